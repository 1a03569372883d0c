/// The scripts by which shells ask the tool for completions. They know nothing of commands and options, so they fit every later release.
enum CompletionScript: String, CaseIterable {
    case bash, zsh, fish

    var text: String {
        switch self {
        case .bash: Self.bashText
        case .zsh: Self.zshText
        case .fish: Self.fishText
        }
    }

    /// Bash splits words at `=` and `:`, and takes candidates for the last part alone.
    private static let bashText = #"""
        _heartwood() {
            local words=() word line kind= glue= index prefix
            for ((index = 1; index <= COMP_CWORD; index++)); do
                word=${COMP_WORDS[index]//[\"\'\\]/}
                if [[ ${#words[@]} -gt 0 && ( -n $glue || $word == [=:] ) ]]; then
                    words[${#words[@]} - 1]+=$word
                else
                    words+=("$word")
                fi
                [[ $word == [=:] ]] && glue=yes || glue=
            done
            word=${words[${#words[@]} - 1]}
            prefix=${word%"${word##*[=:]}"}
            COMPREPLY=()
            while IFS= read -r line; do
                if [[ -z $kind ]]; then
                    kind=$line
                else
                    line=${line%%$'\t'*}
                    COMPREPLY+=("${line#"$prefix"}")
                fi
            done < <("${COMP_WORDS[0]}" complete -- "${words[@]}" 2> /dev/null)
            [[ $kind == files || $kind == folders ]] || return 0
            compopt -o filenames 2> /dev/null
            [[ $kind == files ]] && kind=-f || kind=-d
            while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$kind" -- "${word#"$prefix"}")
        }
        complete -F _heartwood heartwood
        """#

    private static let zshText = #"""
        #compdef heartwood
        _heartwood() {
            local -a lines found
            local line
            lines=("${(@f)$("${words[1]}" complete -- "${(@Q)words[2,CURRENT]}" 2> /dev/null)}")
            case ${lines[1]} in
                files) compset -P '*='; _files ;;
                folders) compset -P '*='; _files -/ ;;
                *)
                    for line in "${(@)lines[2,-1]}"; do found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}"); done
                    _describe -t heartwood heartwood found
                    ;;
            esac
        }
        compdef _heartwood heartwood
        """#

    private static let fishText = #"""
        function __heartwood_complete
            set -l words (commandline -opc) (commandline -ct)
            set -l lines ($words[1] complete -- $words[2..-1] 2> /dev/null)
            switch $lines[1]
                case files
                    __fish_complete_path (string replace -r -- '^--[a-z-]+=' '' $words[-1])
                case folders
                    __fish_complete_directories (string replace -r -- '^--[a-z-]+=' '' $words[-1])
                case '*'
                    string join \n -- $lines[2..-1]
            end
        end
        complete -c heartwood -f -a '(__heartwood_complete)'
        """#
}
