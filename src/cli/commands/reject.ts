/** `retinue reject`: shows one action, and records the Guardian's rejection. */
import { defined } from "../../core/defined.ts";
import { flagOption, textOption } from "../args.ts";
import { confirmed } from "../asking.ts";
import { EXIT, OPTIONS, type Command } from "../command.ts";
import { withGuardian } from "../find-guardian.ts";
import { moment } from "../format-values.ts";
import { readAnswerable, showAnswerable } from "../proposal.ts";

export const command: Command = {
  name: "reject",
  arguments: "<id>",
  describe:
    "Shows the whole of an action that waits for your approval, and asks whether to reject it. A rejected action is never sent. Without a terminal it is rejected at once.",
  options: [
    { flags: "--yes", describe: "do not ask: reject it" },
    { flags: "--reason <text>", describe: "stored with it" },
    OPTIONS.store,
    OPTIONS.config,
  ],
  examples: ["retinue reject i0f3k9x0b2m4q7w1zd --reason 'too long'"],
  async run(context) {
    const { args, options, out, clock } = context;
    const [id = ""] = args;
    const reason = textOption(options, "reason");
    const why = await readAnswerable(context, id);
    const { approval, state: _before, reasons: _reasons, hint: _hint, ...shown } = why;
    showAnswerable(why, out, clock.now());
    const ask = out.json || flagOption(options, "yes") ? undefined : context.asking();
    if (ask !== undefined && !(await confirmed(ask, `Never send this as ${why.handle}? [y/N]`, out))) {
      out.line(`not rejected: it waits until ${moment(approval.expiresAt, clock.now())}, or for retinue approve ${id}`);
      return EXIT.failed;
    }
    const { message } = await withGuardian(context, (guardian) => guardian.reject(defined({ id, reason })));
    if (ask === undefined) out.line();
    out.line(message);
    out.result({ ok: true, message, ...shown, approval });
    return EXIT.done;
  },
};
