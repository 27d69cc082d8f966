# shellcheck shell=bash
# lifectl itself knows what may stand at the cursor.
_lifectl() {
    local words=("${COMP_WORDS[@]}")
    words[COMP_CWORD]=$2
    mapfile -t COMPREPLY < <(lifectl --complete "$COMP_CWORD" -- "${words[@]}" 2>/dev/null | cut -f 1)
    [[ ${COMPREPLY[0]-} != :files ]] || { COMPREPLY=(); compopt -o default 2>/dev/null; }
}
complete -F _lifectl lifectl
