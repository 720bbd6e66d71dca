# fish completion of flipop. In ~/.config/fish/config.fish: flipop completion fish | source
function __flipop_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program flipop
    set -l directive 4
    string match -q '*/*' -- $words[1]; and set program $words[1]
    set -e words[1]
    for answer in ($program __complete -- $words "$current" 2>/dev/null)
        if string match -q ':*' -- $answer
            set directive (string sub -s 2 -- $answer)
        else
            printf '%s\n' $answer
        end
    end
    if test $directive -lt 4
        set -l kept (string match -r -- '^--[^=]*=' "$current")
        for path in (__fish_complete_path (string replace -r -- '^--[^=]*=' '' "$current"))
            printf '%s\n' "$kept$path"
        end
    end
end
complete -c flipop -f -a '(__flipop_complete)'
