# lifectl itself knows what may stand at the cursor.
function __lifectl_complete
    set -l word (commandline -ct)
    set -l words (commandline -opc) "$word"
    set -l found (lifectl --complete (math (count $words) - 1) -- $words 2>/dev/null)
    if test "$found[1]" = :files
        __fish_complete_path "$word"
    else
        printf '%s\n' $found
    end
end
complete --command lifectl --no-files --keep-order --arguments '(__lifectl_complete)'
