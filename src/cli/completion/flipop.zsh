#compdef flipop
# zsh completion of flipop. In ~/.zshrc, behind compinit: source <(flipop completion zsh)
# Or as the file _flipop in a folder of $fpath.
_flipop() {
    local program=flipop directive=4 answer text
    local -a before candidates
    [[ ${words[1]} == */* ]] && program=${words[1]/#\~/$HOME}
    before=("${(@Q)words[2,CURRENT-1]}")
    for answer in "${(@f)$("$program" __complete -- "${before[@]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
        if [[ $answer == :* ]]; then
            directive=${answer#:}
        elif [[ -n $answer ]]; then
            text=${answer%%$'\t'*}
            candidates+=("${text//:/\\:}:${answer#*$'\t'}")
        fi
    done
    if ((${#candidates})); then
        if ((directive & 2)); then
            _describe flipop candidates -S ''
        else
            _describe flipop candidates
        fi
    elif ! ((directive & 4)); then
        [[ $PREFIX == -*=* ]] && compset -P '*='
        _files
    fi
}
if [[ ${funcstack[1]} == _flipop ]]; then
    _flipop "$@"
else
    compdef _flipop flipop
fi
