/** Writes the completion script of a shell from commands and their options. Pure. */

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** One command, as a shell completes it. */
export interface Completed {
  readonly name: string;
  readonly describe: string;
  /** `--store`, in the order of the help. */
  readonly options: readonly string[];
  /** Known operands. */
  readonly words: readonly string[];
  /** Its operand may be a handle. */
  readonly takesHandle: boolean;
}

/** The option whose value is a handle, of whichever command. */
export const HANDLE_OPTION = "--as";
/** Prints the handles of the project in the folder, and nothing if it has none. They have no character that a shell expands. */
const HANDLES = "retinue completion --handles 2>/dev/null";

export function completionScript(shell: Shell, commands: readonly Completed[]): string {
  return SCRIPTS[shell](commands);
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const wordsOf = ({ options, words }: Completed): string => [...words, ...options].join(" ");

const SCRIPTS: { readonly [shell in Shell]: (commands: readonly Completed[]) => string } = {
  // Where a command has nothing to offer, files are.
  bash: (commands) => `# bash completion of retinue
_retinue() {
  local current=\${COMP_WORDS[COMP_CWORD]} words handles= i name=
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in -*) ;; *) name=\${COMP_WORDS[i]}; break ;; esac
  done
  case $name in
    ''|help) words='${commands.map(({ name }) => name).join(" ")} help' ;;
${commands.map((one) => `    ${one.name}) words='${wordsOf(one)}'${one.takesHandle ? " handles=1" : ""} ;;`).join("\n")}
    *) words= ;;
  esac
  if [[ $name && \${COMP_WORDS[COMP_CWORD - 1]} == ${HANDLE_OPTION} ]]; then words=$(${HANDLES})
  elif [[ $handles && $current != -* ]]; then words="$words $(${HANDLES})"
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _retinue retinue
`,
  zsh: (commands) => `#compdef retinue
_retinue() {
  local -a commands offered
  local handles= i name=
  commands=(
${commands.map(({ name, describe }) => `    ${quoted(`${name}:${describe.replaceAll(":", "\\:")}`)}`).join("\n")}
  )
  for ((i = 2; i < CURRENT; i++)); do
    case \${words[i]} in -*) ;; *) name=\${words[i]}; break ;; esac
  done
  case $name in
    ''|help) _describe command commands; return ;;
${commands.map((one) => `    ${one.name}) offered=(${wordsOf(one)})${one.takesHandle ? " handles=1" : ""} ;;`).join("\n")}
  esac
  if [[ -n $name && \${words[CURRENT - 1]} == ${HANDLE_OPTION} ]]; then compadd -- \${(f)"$(${HANDLES})"}; return
  elif [[ -n $handles && $PREFIX != -* ]]; then offered+=(\${(f)"$(${HANDLES})"})
  fi
  compadd -a offered
  [[ $PREFIX == -* ]] || _files
}
if [[ $funcstack[1] == _retinue ]]; then _retinue "$@"; else compdef _retinue retinue; fi
`,
  fish: (commands) =>
    `# fish completion of retinue
${commands
  .flatMap(({ name, describe, options, words, takesHandle }) => [
    `complete -c retinue -n __fish_use_subcommand -f -a ${name} -d ${fishQuoted(describe)}`,
    ...options.map((option) => {
      const values = option === HANDLE_OPTION ? ` -x -a '(${HANDLES})'` : "";
      return `complete -c retinue -n '__fish_seen_subcommand_from ${name}' -l ${option.slice(2)}${values}`;
    }),
    ...[...words, ...(takesHandle ? [`'(${HANDLES})'`] : [])].map(
      (word) => `complete -c retinue -n '__fish_seen_subcommand_from ${name}' -f -a ${word}`,
    ),
  ])
  .join("\n")}
`,
};

/** Fish reads a backslash in single quotes. */
function fishQuoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
