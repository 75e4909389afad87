/** `retinue approve`: shows an action whole, and takes the Guardian's yes to exactly that. */
import { defined } from "../../core/defined.ts";
import { Misconfigured } from "../../core/errors.ts";
import { flagOption, textOption } from "../args.ts";
import { EXIT, OPTIONS, type Command, type Context } from "../command.ts";
import { withGuardian } from "../find-guardian.ts";
import { costText, readAnswerable, showAnswerable, type Answerable } from "../proposal.ts";
import { moment } from "../format-values.ts";

export const command: Command = {
  name: "approve",
  arguments: "<id>",
  describe:
    "Shows all of an action that was held for your approval, and asks. Your yes holds for exactly what was shown, once. Without a terminal, or with --json, say it by --yes or --hash.",
  options: [
    { flags: "--yes", describe: "do not ask: approve it as it is now" },
    { flags: "--hash <hash>", describe: "do not ask: approve it only if it is still what this was message of (retinue why <id> --json)" },
    { flags: "--reason <text>", describe: "kept with it" },
    OPTIONS.store,
    OPTIONS.config,
  ],
  examples: ["retinue approve i3k9x0b2m4q7w1zd", "retinue approve i3k9x0b2m4q7w1zd --yes --json"],
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

/** The person's answer; anything but a yes is none. Throws `Misconfigured` (`option_missing`) where nobody can be asked. */
async function agreed({ id, handle, approval }: Answerable, { asking, out }: Context): Promise<boolean> {
  const ask = out.json ? undefined : asking();
  if (ask === undefined)
    throw new Misconfigured("option_missing", "nobody can be asked here, and nothing is approved unasked", {
      expected: "--yes, or --hash <hash> for exactly what that was message of",
      hint: `retinue why ${id} --json says all that would be sent, and its hash (approval.hash)`,
    });
  out.line();
  const price = approval.cost === undefined ? "" : `, for ${costText(approval.cost)}`;
  const answer = await ask(out.paint.bold(`Send exactly this as ${handle}${price}? [y/N]`));
  if (answer === undefined) out.line();
  return /^\s*y(es)?\s*$/i.test(answer ?? "");
}
