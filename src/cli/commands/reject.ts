/** `retinue reject`: the Guardian's no to one action. */
import { textOption } from "../args.ts";
import { EXIT, OPTIONS, type Command } from "../command.ts";
import { withGuardian } from "../find-guardian.ts";

export const command: Command = {
  name: "reject",
  arguments: "<id>",
  describe: "Says no to an action that was held for your approval. It is never sent.",
  options: [{ flags: "--reason <text>", describe: "kept with it" }, OPTIONS.store, OPTIONS.config],
  examples: ["retinue reject i3k9x0b2m4q7w1zd --reason 'too long'"],
  async run(context) {
    const { args, options, out } = context;
    const reason = textOption(options, "reason");
    const [id = ""] = args;
    const { message } = await withGuardian(context, (guardian) => guardian.reject({ id, ...(reason === undefined ? {} : { reason }) }));
    out.line(message);
    out.result({ ok: true, message });
    return EXIT.done;
  },
};
