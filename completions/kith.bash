# Completion of kith's commands for bash.

_kith() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} options

    COMPREPLY=()
    # Bash cuts --strategy=both in three words.
    if [[ $current == = ]]; then
        current=
    elif [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W 'stats split help version --help --version' -- "$current")
        return
    fi
    case $command in
        stats) options='--json --skip-bad --threads --help' ;;
        split) options='--output --strategy --rate --count --valid --test --labels --ids --seed
                        --force --skip-bad --json --help' ;;
        help)
            ((COMP_CWORD == 2)) && mapfile -t COMPREPLY < <(compgen -W 'stats split' -- "$current")
            return ;;
        *) return ;;
    esac
    case $previous in
        --strategy)
            mapfile -t COMPREPLY < <(compgen -W 'subject object both' -- "$current")
            return ;;
        --threads | --rate | --count | --valid | --test | --seed)
            return ;;
        -o | --output)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -d -- "$current")
            return ;;
    esac
    if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
    fi
}

complete -F _kith kith
