/** `retinue why`: shows the rule that holds something back, since when and until when, and everything an action would send. */
import type { Explanation } from "../../guardian/explanation.ts";
import { EXIT, OPTIONS, type Command, type Context } from "../command.ts";
import { costText, overText, readExplanation, showPayload } from "../proposal.ts";
import { moment } from "../format-values.ts";
import { hintText, placeText, showFailure } from "../show-failures.ts";
import { linesOf, say } from "../text.ts";

export const command: Command = {
  name: "why",
  arguments: "<id>",
  describe:
    "Says why an action or event waits, was refused or is parked: which rule, since when, until when; and all that an action sends. Takes a handle, an operation, or the id of a job or post too.",
  options: [OPTIONS.store, OPTIONS.config],
  examples: ["retinue why i0f3k9x0b2m4q7w1zd", "retinue why scout", "retinue why posts.create", "retinue why job_20"],
  async run(context) {
    const { args, out, clock } = context;
    const why = await readExplanation(context, args[0] ?? "");
    const now = clock.now();
    showStanding(why, context);
    if (why.process !== undefined)
      out.line(out.paint.dim(`  ${why.handle} is at the process ${why.process.name} since ${moment(why.process.since, now)}`));
    const { approval } = why;
    if (approval?.over !== undefined) out.line(`  approval: ${overText(approval.over, now)}`);
    if (approval !== undefined) out.line(say`  costs ${costText(approval.cost)} ${out.paint.dim(`(hash ${approval.hash})`)}`);
    showHint(why, context);
    showPayload(why, out, now);
    for (const one of why.found ?? []) showFound(one, context);
    out.result({ ok: true, ...why });
    return EXIT.done;
  },
};

function showStanding(why: Explanation, { out, clock, cwd }: Context, stacks = true): void {
  const { paint } = out;
  const now = clock.now();
  const isNow = why.about === "specialist" || why.about === "object" || why.state === "open";
  out.line(say`${paint.bold(nameOf(why))} is ${why.state}${isNow ? "" : ` since ${moment(why.since, now)}`}`);
  for (const reason of why.reasons) {
    const { rule, message, lane, window, held, since, until } = reason;
    const [first = "", ...rest] = linesOf(message === "" ? rule : message);
    out.paragraph(`  ${first} (${rule})`);
    if (rest.length > 0) out.quote(rest.join("\n"));
    if (lane !== undefined) out.line(paint.dim(`    lane ${lane}${window === undefined ? "" : `, window ${window}`}`));
    if (held !== undefined) out.line(paint.dim(`    holds back ${held}`));
    if (since !== undefined) out.line(paint.dim(`    in force since ${moment(since, now)}`));
    if (until !== undefined) out.line(paint.dim(`    ${rule === "handler_failed" ? "next try" : "until"} ${moment(until, now)}`));
    showFailure(reason, cwd, out);
    if (stacks && reason.stack !== undefined) out.quote(reason.stack);
  }
  const created = why.created === undefined ? "" : `, and created ${why.created}`;
  if (why.reasons.length === 0 && why.found === undefined) out.line(`  ${OVER[why.state] ?? "nothing stands in its way"}${created}`);
}

/** Stacks and payloads are shown only for a single thing requested by its id. */
function showFound(why: Explanation, context: Context): void {
  const { out } = context;
  out.line();
  showStanding(why, context, false);
  if (why.about !== "watch") out.line(out.paint.dim(`  ${why.id}`));
  showHint(why, context);
}

function showHint({ hint, reasons }: Explanation, { out, cwd }: Context): void {
  const place = reasons.map((reason) => placeText(reason, cwd)).find((one) => one !== undefined);
  if (hint !== undefined) out.line(say`  ${out.paint.dim("try")} ${hintText(hint, place)}`);
}

/** Final states, which need no explanation. */
const OVER: { readonly [state: string]: string | undefined } = { confirmed: "it happened", done: "it was handled" };

function nameOf({ id, about, handle, what, target }: Explanation): string {
  if (about === "specialist") return handle;
  if (about === "object") return `${what} ${id}`;
  if (about === "watch") return `${handle}: ${what} ${id}, followed,`;
  return about === "operation" ? what : `${handle}: ${what}${target === undefined ? "" : ` ${target}`}`;
}
