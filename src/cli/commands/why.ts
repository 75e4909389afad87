/** `retinue why`: which rule holds something back, since when and until when, and all that it would send. */
import type { Explanation } from "../../guardian/explanation.ts";
import { EXIT, OPTIONS, type Command } from "../command.ts";
import { costText, overText, readExplanation, showPayload } from "../proposal.ts";
import { moment } from "../format-values.ts";
import { say } from "../text.ts";

export const command: Command = {
  name: "why",
  arguments: "<id>",
  describe:
    "Says why an action or event waits, was refused or is parked: which rule, since when, until when; and all that an action sends. Takes a handle or an operation too.",
  options: [OPTIONS.store, OPTIONS.config],
  examples: ["retinue why i3k9x0b2m4q7w1zd", "retinue why scout", "retinue why posts.create"],
  async run(context) {
    const { args, out, clock } = context;
    const why = await readExplanation(context, args[0] ?? "");
    const now = clock.now();
    const isNow = why.about === "specialist" || why.state === "open";
    out.line(say`${out.paint.bold(nameOf(why))} is ${why.state}${isNow ? "" : ` since ${moment(why.since, now)}`}`);
    for (const { rule, message, lane, window, since, until } of why.reasons) {
      out.line(say`  ${message === "" ? rule : message} ${out.paint.dim(`(${rule})`)}`);
      if (lane !== undefined) out.line(out.paint.dim(`    lane ${lane}${window === undefined ? "" : `, window ${window}`}`));
      if (since !== undefined) out.line(out.paint.dim(`    since ${moment(since, now)}`));
      if (until !== undefined) out.line(out.paint.dim(`    until ${moment(until, now)}`));
    }
    if (why.reasons.length === 0) out.line(`  ${OVER[why.state] ?? "nothing stands in its way"}`);
    const { approval } = why;
    if (approval?.over !== undefined) out.line(`  approval: ${overText(approval.over, now)}`);
    if (approval !== undefined) out.line(say`  costs ${costText(approval.cost)} ${out.paint.dim(`(hash ${approval.hash})`)}`);
    if (why.hint !== undefined) out.line(say`  ${out.paint.dim("try")} ${why.hint}`);
    showPayload(why, out, now);
    out.result({ ok: true, ...why });
    return EXIT.done;
  },
};

/** States in which nothing is to be explained. */
const OVER: { readonly [state: string]: string | undefined } = { confirmed: "it happened", done: "it was handled" };

function nameOf({ about, handle, what, target }: Explanation): string {
  if (about === "specialist") return handle;
  return about === "operation" ? what : `${handle}: ${what}${target === undefined ? "" : ` ${target}`}`;
}
