/** `retinue unfreeze`: lets an account spend again that was frozen. */
import { Misconfigured } from "../../core/errors.ts";
import { textOption } from "../args.ts";
import { EXIT, OPTIONS, type Command } from "../command.ts";
import { withGuardian } from "../find-guardian.ts";

export const command: Command = {
  name: "unfreeze",
  arguments: "[handle]",
  describe:
    "Lets an account spend again that was frozen because something cost more than was set aside for it: a specialist's, or the one that all share. Caps hold as before.",
  options: [
    { flags: "--reason <text>", describe: "needed: kept on the books for good, with the name of who gave it" },
    OPTIONS.store,
    OPTIONS.config,
  ],
  examples: ["retinue unfreeze patron --reason 'the fee is new, the price is raised'", "retinue unfreeze --reason 'looked at it'"],
  async run(context) {
    const { args, options, env, out } = context;
    const reason = textOption(options, "reason");
    if (reason === undefined || reason.trim() === "")
      throw new Misconfigured("reason_missing", "an account is not let go without a reason", {
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
