#compdef lifectl
# lifectl itself knows what may stand at the cursor.
local line
local -a typed=("${words[@]}") found
typed[CURRENT]=$PREFIX
while IFS= read -r line; do
    [[ $line != :files ]] || { _files; return }
    line=${line//:/\\:}
    found+=("${line/$'\t'/:}")
done < <(lifectl --complete $((CURRENT - 1)) -- "${typed[@]}" 2>/dev/null)
_describe -V lifectl found
