# Completion of kith's commands for bash.

# What follows an option in the help of kith train: one line per setting, "  --NAME CHOICE|CHOICE".
# Asking the program keeps this file from saying something else than it.
_kith_settings() { # print the options of all settings, or the choices of one
    "${COMP_WORDS[0]}" train --help 2>/dev/null | sed -n '/^settings/,$p' |
        awk -v name="${1-}" '
            $1 !~ /^--/ { next }
            name == "" { print $1 }
            name == $1 { n = split($2, choice, "|")
                         for (i = 1; i <= n; i++) if (choice[i] !~ /^[A-Z]$/) print choice[i] }'
}

_kith_reply() { # words, the beginning
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

# --grid NAME=VALUE,VALUE: names of settings first, then values. Bash cuts words at =.
_kith_grid() {
    local current=$1 name before
    if [[ ${COMP_WORDS[COMP_CWORD - 1]} == = || ${COMP_WORDS[COMP_CWORD]} == = ]]; then
        name=${COMP_WORDS[COMP_CWORD - 2]}
        [[ ${COMP_WORDS[COMP_CWORD]} == = ]] && name=${COMP_WORDS[COMP_CWORD - 1]}
        before=
        [[ $current == *,* ]] && before=${current%,*},
        mapfile -t COMPREPLY < <(compgen -P "$before" -W "$(_kith_settings "--$name")" \
            -- "${current##*,}")
    else
        compopt -o nospace 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -S = -W "$(_kith_settings | sed 's/^--//')" -- "$current")
    fi
}

_kith() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} commands='stats split rules train eval info tune predict explain shell export compare reproduce' options choices

    COMPREPLY=()
    if [[ $command == tune ]]; then
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
    if ((COMP_CWORD == 1)); then
        _kith_reply "$commands help version --help --version" "$current"
        return
    fi
    case $command in
        stats) options='--json --skip-bad --threads --help' ;;
        split) options='--output --strategy --rate --count --valid --test --labels --ids --seed
                        --force --skip-bad --json --help' ;;
        rules) options='--kind --examples --relation --top --min-support --json --skip-bad --threads --help' ;;
        train) options='--output --preset --resume --threads --checkpoint-every --skip-bad --quiet
                        --json --help' ;;
        eval) options='--split --candidates --without --filter --ranks --html --threads --json --help' ;;
        reproduce) options='--data --output --quick --jobs --threads --experiments --list --dry-run
                        --quiet --json --help' ;;
        compare) options='--split --candidates --threads --json --help' ;;
        info) options='--relation --json --help' ;;
        tune) options='--output --grid --preset --threads --skip-bad --quiet --json --help' ;;
        predict) options='--fact --facts --query --top --new-only --relations --threads --json --help' ;;
        explain) options='--fact --facts --query --top --new-only --relations --html --threads
                        --json --help' ;;
        shell) options='--threads --help' ;;
        export) options='--output --format --table --relation --inverse --entity --entities --facts
                        --threads --help' ;;
        help)
            ((COMP_CWORD == 2)) && _kith_reply "$commands" "$current"
            return ;;
        *) return ;;
    esac
    case $command:$previous in
        split:--strategy) _kith_reply 'subject object both' "$current"; return ;;
        *:--preset) _kith_reply 'kith triplets rules embedding release paper' "$current"; return ;;
        eval:--split | compare:--split) _kith_reply 'dev test' "$current"; return ;;
        eval:--candidates | compare:--candidates) _kith_reply 'seen all' "$current"; return ;;
        export:--format) _kith_reply 'npy word2vec tsv' "$current"; return ;;
        export:--table) _kith_reply 'ent rel trans query' "$current"; return ;;
        *:--fact | *:--query | predict:--relations | explain:--relations | predict:--top | \
        explain:--top | export:--relation | export:--entity) return ;;
        *:--threads | *:--jobs | *:--seed | split:--rate | split:--count | split:--valid | split:--test | \
        rules:--kind | rules:--relation | info:--relation | rules:--top | rules:--min-support | train:--checkpoint-every) return ;;
        *:-o | *:--output | *:--resume | reproduce:--data | reproduce:--experiments)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -d -- "$current")
            return ;;
        eval:--ranks | *:--html) ;;
        train:--* | tune:--*)
            if [[ " $options " != *[[:space:]]"$previous"[[:space:]]* ]]; then
                choices=$(_kith_settings "$previous")
                [[ -z $choices ]] || _kith_reply "$choices" "$current"
                return
            fi ;;
    esac
    if [[ $current == -* ]]; then
        [[ $command == train || $command == tune ]] && options+=" $(_kith_settings)"
        _kith_reply "$options" "$current"
    elif [[ $command == reproduce && $current != */* && $current != *.json ]]; then
        _kith_reply "$("${COMP_WORDS[0]}" reproduce --list 2>/dev/null | cut -d' ' -f1)" "$current"
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    fi
}

complete -F _kith kith
