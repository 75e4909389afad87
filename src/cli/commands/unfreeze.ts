/** `retinue unfreeze`: lets a frozen account spend again. */
import { Misconfigured } from "../../core/errors.ts";
import { textOption } from "../args.ts";
import { EXIT, OPTIONS, type Command } from "../command.ts";
import { withGuardian } from "../find-guardian.ts";

export const command: Command = {
  name: "unfreeze",
  arguments: "[handle]",
  describe: "Unfreezes an account whose action cost more than its hold: a specialist's, or the shared one. Caps apply as before.",
  options: [{ flags: "--reason <text>", describe: "required: recorded for good, with your user name" }, OPTIONS.store, OPTIONS.config],
  examples: ["retinue unfreeze patron --reason 'the fee is new, the price is raised'", "retinue unfreeze --reason 'looked at it'"],
  async run(context) {
    const { args, options, env, out } = context;
    const reason = textOption(options, "reason");
    if (reason === undefined || reason.trim() === "")
      throw new Misconfigured("reason_missing", "unfreezing an account needs a reason", {
        expected: "--reason '<what you found>'",
      });
    const scope = args[0] === undefined ? {} : { handle: args[0] };
    const by = env["USER"] ?? env["LOGNAME"] ?? "the Guardian";
    const { message } = await withGuardian(context, (guardian) => guardian.unfreeze({ ...scope, by, reason }));
    out.line(message);
    out.result({ ok: true, message });
    return EXIT.done;
  },
};
