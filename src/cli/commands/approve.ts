/** `retinue approve`: shows an action completely, and records the Guardian's approval of exactly that. */
import { defined } from "../../core/defined.ts";
import { Misconfigured } from "../../core/errors.ts";
import { flagOption, textOption } from "../args.ts";
import { confirmed } from "../asking.ts";
import { EXIT, OPTIONS, type Command, type Context } from "../command.ts";
import { withGuardian } from "../find-guardian.ts";
import { costText, readAnswerable, showAnswerable, type Answerable } from "../proposal.ts";
import { moment } from "../format-values.ts";

export const command: Command = {
  name: "approve",
  arguments: "<id>",
  describe:
    "Shows the whole of an action that waits for you, and asks. The approval covers exactly what was shown, once. Without a terminal, or with --json, approve with --yes or --hash.",
  options: [
    { flags: "--yes", describe: "do not ask: approve it as it is now" },
    { flags: "--hash <hash>", describe: "do not ask: approve it only if it still has this hash (retinue why <id> --json)" },
    { flags: "--reason <text>", describe: "stored with it" },
    OPTIONS.store,
    OPTIONS.config,
  ],
  examples: ["retinue approve i0f3k9x0b2m4q7w1zd", "retinue approve i0f3k9x0b2m4q7w1zd --yes --json"],
  async run(context) {
    const { args, options, out, clock } = context;
    const [id = ""] = args;
    const reason = textOption(options, "reason");
    const why = await readAnswerable(context, id);
    const { approval, state: _before, reasons: _reasons, hint: _hint, ...shown } = why;
    showAnswerable(why, out, clock.now());
    const hash = textOption(options, "hash") ?? (flagOption(options, "yes") || (await agreed(why, context)) ? approval.hash : undefined);
    if (hash === undefined) {
      out.line(`not approved: it waits until ${moment(approval.expiresAt, clock.now())}, or for retinue reject ${id}`);
      return EXIT.failed;
    }
    const { message } = await withGuardian(context, (guardian) => guardian.approve(defined({ id, hash, reason })));
    out.line(message);
    out.result({ ok: true, message, ...shown, approval });
    return EXIT.done;
  },
};

/** Asks the person. Throws `Misconfigured` (`option_missing`) if nobody can be asked. */
async function agreed({ id, handle, approval }: Answerable, { asking, out }: Context): Promise<boolean> {
  const ask = out.json ? undefined : asking();
  if (ask === undefined)
    throw new Misconfigured("option_missing", "there is no terminal to ask at", {
      expected: "--yes, or --hash <hash> for exactly the action with that hash",
      hint: `retinue why ${id} --json shows the whole action and its hash (approval.hash)`,
    });
  const price = approval.cost === undefined ? "" : `, for ${costText(approval.cost)}`;
  return confirmed(ask, `Send exactly this as ${handle}${price}? [y/N]`, out);
}
