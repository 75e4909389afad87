/** `retinue unfreeze`: lets a frozen account spend again. */
import { Misconfigured } from "../../core/errors.ts";
import { textOption } from "../args.ts";
import { shellUser } from "../shell-user.ts";
import { orderCommand, scopeIn } from "../order-command.ts";

export const command = orderCommand({
  name: "unfreeze",
  arguments: "[handle]",
  describe:
    "Unfreezes an account whose action cost more than its hold, or one of a restored store: a specialist's, or the shared one. Caps apply as before.",
  options: [{ flags: "--reason <text>", describe: "required: recorded for good, with your user name" }],
  examples: ["retinue unfreeze patron --reason 'the fee is new, the price is raised'", "retinue unfreeze --reason 'checked it'"],
  prepare: (context) => {
    const { options, env } = context;
    const reason = textOption(options, "reason");
    if (reason === undefined || reason.trim() === "")
      throw new Misconfigured("reason_missing", "unfreezing an account needs a reason", { expected: "--reason '<what you found>'" });
    return (guardian) => guardian.unfreeze({ ...scopeIn(context), by: shellUser(env).who, reason });
  },
});
