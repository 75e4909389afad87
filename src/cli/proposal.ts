/** Shows an action for approval: its whole payload, its cost, its expiry, and the event that led to it. */
import type { WaitRule } from "../limits/wait-rules.ts";
import { Refused } from "../core/errors.ts";
import { showMoney, type Money } from "../core/units.ts";
import type { ApprovalShown, Explanation } from "../guardian/explanation.ts";
import type { Context } from "./command.ts";
import { withGuardian } from "./find-guardian.ts";
import type { Output } from "./output.ts";
import { moment } from "./format-values.ts";
import { WANTED } from "./describe-event.ts";
import { hides, say } from "./text.ts";

/** An action that can be answered. */
export type Answerable = Explanation & { readonly approval: ApprovalShown };

/** Explains anything by its id. */
export function readExplanation(context: Context, id: string): Promise<Explanation> {
  return withGuardian(context, (guardian) => guardian.why({ id }));
}

const WAITING = "retinue status lists those that wait";

/** Throws `Refused` (`nothing_found`, `nothing_asked`, `approval_over`). */
export async function readAnswerable(context: Context, id: string): Promise<Answerable> {
  const why = await readExplanation(context, id).catch((error: unknown) => {
    if (!(error instanceof Refused) || error.code !== "nothing_found") throw error;
    throw new Refused("nothing_found", error.message, { hint: WAITING, cause: error });
  });
  const { approval, state } = why;
  if (approval === undefined)
    throw new Refused("nothing_asked", `"${id}" needs no approval: it is ${state}`, {
      hint: WAITING,
    });
  if (approval.over !== undefined)
    throw new Refused("approval_over", `${id} can no longer be answered: ${overText(approval.over, context.clock.now())}`, {
      hint: `retinue why ${id}`,
    });
  return { ...why, approval };
}

export function overText({ message, at }: NonNullable<ApprovalShown["over"]>, now: number): string {
  return `${message}, ${moment(at, now)}`;
}

export function costText(cost: Money | undefined): string {
  return cost === undefined ? "nothing" : `at most ${showMoney(cost)}`;
}

/** Rules that an answer here ends, or that no answer needs. */
const WITHOUT_APPROVAL: readonly string[] = ["approval_wanted", "not_running"] satisfies WaitRule[];

/** Shows the whole page. The payload comes last, next to the question. */
export function showAnswerable(why: Answerable, out: Output, now: number): void {
  const { id, handle, what, target, approval, reasons } = why;
  const { paint } = out;
  out.line(say`${paint.bold(`${handle} wants to ${wantedText(what, target)}`)} ${paint.dim(`(${what}, ${id})`)}`);
  out.line(`  costs      ${costText(approval.cost)}`);
  out.line(`  answer by  ${moment(approval.expiresAt, now)}; without an answer it is not sent`);
  // An approval alone does not send it then.
  for (const { message, rule } of reasons)
    if (!WITHOUT_APPROVAL.includes(rule)) out.line(paint.yellow(`  and then   ${message} (${rule})`));
  showPayload(why, out, now);
}

/** Shows the event that led to an action, and its whole payload. */
export function showPayload({ event, input }: Explanation, out: Output, now: number): void {
  const { paint } = out;
  if (event !== undefined) {
    const { id, kind, author, at, title, text } = event;
    out.line();
    out.line(say`${paint.bold("Decided on")} ${kind}${author === undefined ? "" : ` by ${author}`}, ${moment(at, now)} ${paint.dim(id)}`);
    for (const words of [title, text]) if (words !== undefined) out.quote(words);
  }
  if (input === undefined) return;
  out.line();
  out.line(paint.bold("Sends"));
  for (const [name, value] of Object.entries(input)) {
    const words = typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
    out.line(`  ${name}`);
    out.quote(words);
    if (hides(words)) out.line(paint.yellow("  it contains invisible characters, shown as \\uXXXX"));
  }
  if (Object.keys(input).length === 0) out.line("  nothing beside that");
}

function wantedText(operation: string, target: string | undefined): string {
  return `${WANTED[operation] ?? `do ${operation}`}${target === undefined ? "" : ` ${target}`}`;
}
