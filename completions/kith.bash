# Completion of kith's commands for bash. `kith help --dump` says which options there are: one line per
# option, in columns separated by tabs: kind, command, option, letter, argument, default, required, help.

_kith_dump() { # awk program: run over the lines of the command at hand
    "${COMP_WORDS[0]}" help --dump 2>/dev/null |
        awk -F'\t' -v command="${COMP_WORDS[1]}" -v name="${2-}" "$1"
}

_kith_reply() { # words, the beginning
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_kith_options() {
    _kith_dump '$1 != "command" && $2 == command { print $3; if ($4 != "") print "-" $4 }'
}

# The argument of an option: "a|b|c" for choices, else a word such as FILE.
_kith_argument() {
    _kith_dump '$1 != "command" && $2 == command && ($3 == name || "-" $4 == name) { print $5; exit }' "$1"
}

_kith_choices() { # words of "a|b|N": those that are no placeholders
    local word words
    IFS='|' read -ra words <<<"$1"
    for word in "${words[@]}"; do
        [[ $word =~ ^[A-Z]+$ ]] || echo "$word"
    done
}

# --grid NAME=VALUE,VALUE: names of settings first, then values. Bash cuts words at =.
_kith_grid() {
    local current=$1 name before
    if [[ ${COMP_WORDS[COMP_CWORD - 1]} == = || ${COMP_WORDS[COMP_CWORD]} == = ]]; then
        name=${COMP_WORDS[COMP_CWORD - 2]}
        [[ ${COMP_WORDS[COMP_CWORD]} == = ]] && name=${COMP_WORDS[COMP_CWORD - 1]}
        before=
        [[ $current == *,* ]] && before=${current%,*},
        mapfile -t COMPREPLY < <(compgen -P "$before" \
            -W "$(_kith_choices "$(_kith_argument "--$name")")" -- "${current##*,}")
    else
        compopt -o nospace 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -S = -W "$(_kith_dump \
            '$1 == "setting" && $2 == command { print substr($3, 3) }')" -- "$current")
    fi
}

_kith_paths() { # f for files, d for folders; the beginning
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen "-$1" -- "$2")
}

_kith() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} commands argument

    COMPREPLY=()
    if [[ ${COMP_WORDS[1]} == tune ]]; then
        # --grid NAME = VALUE: the option stands one or three words before.
        local at=$((COMP_CWORD - 1))
        [[ $current == = ]] && at=$((COMP_CWORD - 2))
        [[ $previous == = ]] && at=$((COMP_CWORD - 3))
        if ((at > 1)) && [[ ${COMP_WORDS[at]} == --grid ]]; then
            [[ $current == = ]] && current=
            _kith_grid "$current"
            return
        fi
    fi
    # Bash cuts --strategy=both in three words.
    if [[ $current == = ]]; then
        current=
    elif [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if ((COMP_CWORD == 1)) || [[ ${COMP_WORDS[1]} == help ]]; then
        commands=$(_kith_dump '$1 == "command" { print $2 }')
        ((COMP_CWORD == 1)) && commands+=' help version --help --version'
        ((COMP_CWORD > 2)) || _kith_reply "$commands" "$current"
        return
    fi
    if [[ $previous == -* ]]; then
        argument=$(_kith_argument "$previous")
        case $argument in
            '') ;;
            FILE | SOURCE) _kith_paths f "$current"; return ;;
            DIR | RUN) _kith_paths d "$current"; return ;;
            *) _kith_reply "$(_kith_choices "$argument")" "$current"; return ;;
        esac
    fi
    if [[ $current == -* ]]; then
        _kith_reply "$(_kith_options)" "$current"
    else
        _kith_paths f "$current"
    fi
}

complete -F _kith kith
