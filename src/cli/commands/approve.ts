/** `retinue approve`: the Guardian's yes to one action. */
import { textOption } from "../args.ts";
import { EXIT, OPTIONS, type Command } from "../command.ts";
import { withGuardian } from "../find-guardian.ts";

export const command: Command = {
  name: "approve",
  arguments: "<id>",
  describe: "Lets an action leave that was held for your approval. The word holds for exactly what was shown, once.",
  options: [{ flags: "--reason <text>", describe: "kept with it" }, OPTIONS.store, OPTIONS.config],
  examples: ["retinue approve i3k9x0b2m4q7w1zd"],
  async run(context) {
    const { args, options, out } = context;
    const reason = textOption(options, "reason");
    const [id = ""] = args;
    const { message } = await withGuardian(context, (guardian) => guardian.approve({ id, ...(reason === undefined ? {} : { reason }) }));
    out.line(message);
    out.result({ ok: true, message });
    return EXIT.done;
  },
};
