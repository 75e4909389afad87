/** `retinue completion`: prints a script by which a shell completes commands, options and handles, made from the table of commands. */
import { join } from "node:path";
import { knownHandles } from "../../config/known-handles.ts";
import { Misconfigured } from "../../core/errors.ts";
import { flagOption } from "../args.ts";
import { EXIT, type Command, type CommandEntry } from "../command.ts";
import { SHELLS, completionScript, type Completed } from "../completion-script.ts";

const GLOBAL = ["--json", "--help"];

export const command: Command = {
  name: "completion",
  arguments: "[shell]",
  describe: `Prints the completion of commands, options and handles for a shell: ${SHELLS.join(", ")}.`,
  options: [{ flags: "--handles", describe: "the handles of the definitions in ./agents, which the script asks for" }],
  examples: [
    "retinue completion bash > ~/.local/share/bash-completion/completions/retinue",
    'retinue completion zsh > "${fpath[1]}/_retinue"',
    "retinue completion fish > ~/.config/fish/completions/retinue.fish",
  ],
  async run({ args: [shell = ""], commands, cwd, options, out }) {
    if (flagOption(options, "handles")) {
      const handles = knownHandles(join(cwd, "agents"));
      for (const handle of handles) out.line(handle);
      out.result({ ok: true, handles });
      return EXIT.done;
    }
    const known = SHELLS.find((one) => one === shell.toLowerCase());
    if (known === undefined)
      throw new Misconfigured("option_invalid", `there is no completion for ${JSON.stringify(shell)}`, { expected: SHELLS.join(" or ") });
    const script = completionScript(known, await Promise.all(commands.map(completed)));
    for (const line of script.trimEnd().split("\n")) out.line(line);
    out.result({ ok: true, shell: known, script });
    return EXIT.done;
  },
};

/** Commands whose operand is the id of anything, a handle too. */
const OF_ANY_ID: readonly string[] = ["why", "retry"];

async function completed({ name, describe, load }: CommandEntry): Promise<Completed> {
  const { options, arguments: operands = "" } = (await load()).command;
  const words = options.flatMap(({ flags }) => /--[a-z-]+/.exec(flags)?.[0] ?? []);
  const takesHandle = operands.includes("handle") || OF_ANY_ID.includes(name);
  return { name, describe, options: [...words, ...GLOBAL], words: name === "completion" ? SHELLS : [], takesHandle };
}
