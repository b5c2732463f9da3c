// The command `reeve completion`: prints the script with which a shell completes commands and flags.
import { commandOf } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';

const bash = `# Completion of reeve for bash: source <(reeve completion bash)
_reeve() {
  local line current="\${COMP_WORDS[COMP_CWORD]}" paths=false
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :0) paths=true ;;
      :*) ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <(reeve __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if $paths; then
    [ "$current" = "=" ] && current=""
    compopt -o filenames 2>/dev/null
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
  fi
}
complete -F _reeve reeve`;

const zsh = `#compdef reeve
# Completion of reeve for zsh, after compinit: source <(reeve completion zsh)
_reeve() {
  local line
  local -a answers
  while IFS= read -r line; do
    case $line in
      :0) compset -P '--*='; _files; return ;;
      :*) ;;
      *$'\\t'*) answers+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
      *) answers+=("\${line//:/\\\\:}") ;;
    esac
  done < <(reeve __complete "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( \${#answers} )) && _describe reeve answers
}
if [ "\${funcstack[1]}" = _reeve ]; then _reeve; else compdef _reeve reeve; fi`;

const fish = `# Completion of reeve for fish: reeve completion fish | source
function __reeve_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    set -l answers (reeve __complete $words "$current" 2>/dev/null)
    if contains ':0' $answers
        set -l prefix (string match -r '^--[^=]*=' -- "$current")
        for path in (__fish_complete_path (string replace -r '^--[^=]*=' '' -- "$current"))
            echo "$prefix$path"
        end
    else
        string match -v -r '^:' -- $answers
    end
end
complete -c reeve -f -a '(__reeve_complete)'`;

const scripts = new Map([
  ['bash', bash],
  ['zsh', zsh],
  ['fish', fish],
]);

export const command = commandOf({
  flags: {},
  outputs: {},
  run: async ({ positionals: [shell = ''] }, { stdout }) => {
    stdout(`${scripts.get(shell) ?? ''}\n`);
    return await Promise.resolve(exitCodes.done);
  },
  positionals: {
    placeholder: 'SHELL',
    help: 'The shell that runs the script: bash, zsh or fish.',
    min: 1,
    max: 1,
    choices: [...scripts.keys()],
  },
  details:
    'The script asks this program at each press of the tab key. kubectl 1.26 or newer completes kubectl reeve as well, if kubectl_complete-reeve is on the PATH: the npm package installs it.',
  examples: [
    ['source <(reeve completion bash)', 'in ~/.bashrc'],
    ['source <(reeve completion zsh)', 'in ~/.zshrc, after compinit'],
    ['reeve completion fish | source', 'in ~/.config/fish/config.fish'],
  ],
});
