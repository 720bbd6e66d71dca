# bash completion of flipop. In ~/.bashrc: source <(flipop completion bash)
# Works with bash 3.2, too, which macOS has. bash cuts words at = and :, so they are put together again, and what stands before such
# a cut is left out of the answer.
_flipop() {
    local line=${COMP_LINE:0:COMP_POINT} program=flipop directive=4
    local words=() part i current kept answer
    for ((i = 0; i <= COMP_CWORD; i++)); do
        part=${COMP_WORDS[i]}
        if ((i > 0)) && [[ -n $line && $line != [[:space:]]* ]]; then
            # Of the word at the cursor only what stands before it counts.
            [[ $line == "$part"* ]] || part=$line
            words[${#words[@]}-1]+=$part
        else
            line=${line#"${line%%[![:space:]]*}"}
            [[ $line == "$part"* ]] || part=$line
            words+=("$part")
        fi
        line=${line#"$part"}
    done
    [[ ${words[0]} == */* ]] && program=${words[0]/#\~/$HOME}
    current=${words[${#words[@]}-1]}
    kept=${current%"${current##*[=:]}"}
    COMPREPLY=()
    while IFS= read -r answer; do
        if [[ $answer == :* ]]; then
            directive=${answer#:}
        else
            answer=${answer%%$'\t'*}
            COMPREPLY+=("${answer#"$kept"}")
        fi
    done < <("$program" __complete -- "${words[@]:1}" 2>/dev/null)
    if ((directive & 2)); then
        compopt -o nospace 2>/dev/null
    fi
    if ! ((directive & 4)); then
        compopt -o filenames 2>/dev/null
        while IFS= read -r answer; do
            COMPREPLY+=("$answer")
        done < <(compgen -f -- "${current#"$kept"}")
    fi
}
complete -F _flipop flipop
