/** `retinue completion`: prints a script by which a shell completes commands and options, made from the table of commands. */
import { Misconfigured } from "../../core/errors.ts";
import { EXIT, type Command, type CommandEntry } from "../command.ts";
import { SHELLS, completionScript, type Completed } from "../completion-script.ts";

const GLOBAL = ["--json", "--help"];

export const command: Command = {
  name: "completion",
  arguments: "<shell>",
  describe: `Prints the completion of commands and options for a shell: ${SHELLS.join(", ")}.`,
  options: [],
  examples: [
    "retinue completion bash > ~/.local/share/bash-completion/completions/retinue",
    'retinue completion zsh > "${fpath[1]}/_retinue"',
    "retinue completion fish > ~/.config/fish/completions/retinue.fish",
  ],
  async run({ args: [shell = ""], commands, out }) {
    const known = SHELLS.find((one) => one === shell.toLowerCase());
    if (known === undefined)
      throw new Misconfigured("option_invalid", `there is no completion for ${JSON.stringify(shell)}`, { expected: SHELLS.join(" or ") });
    const script = completionScript(known, await Promise.all(commands.map(completed)));
    for (const line of script.trimEnd().split("\n")) out.line(line);
    out.result({ ok: true, shell: known, script });
    return EXIT.done;
  },
};

async function completed({ name, describe, load }: CommandEntry): Promise<Completed> {
  const { options } = (await load()).command;
  const words = options.flatMap(({ flags }) => /--[a-z-]+/.exec(flags)?.[0] ?? []);
  return { name, describe, options: [...words, ...GLOBAL], words: name === "completion" ? SHELLS : [] };
}
