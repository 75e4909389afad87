/** `retinue reject`: the Guardian's no to one action, which it shows. */
import { defined } from "../../core/defined.ts";
import { textOption } from "../args.ts";
import { EXIT, OPTIONS, type Command } from "../command.ts";
import { withGuardian } from "../find-guardian.ts";
import { readAnswerable, showAnswerable } from "../proposal.ts";

export const command: Command = {
  name: "reject",
  arguments: "<id>",
  describe: "Says no to an action that was held for your approval, and shows it. It is never sent.",
  options: [{ flags: "--reason <text>", describe: "kept with it" }, OPTIONS.store, OPTIONS.config],
  examples: ["retinue reject i3k9x0b2m4q7w1zd --reason 'too long'"],
  async run(context) {
    const { args, options, out, clock } = context;
    const [id = ""] = args;
    const reason = textOption(options, "reason");
    const why = await readAnswerable(context, id);
    const { approval, state: _before, reasons: _reasons, hint: _hint, ...shown } = why;
    showAnswerable(why, out, clock.now());
    const { message } = await withGuardian(context, (guardian) => guardian.reject(defined({ id, reason })));
    out.line();
    out.line(message);
    out.result({ ok: true, message, ...shown, approval });
    return EXIT.done;
  },
};
