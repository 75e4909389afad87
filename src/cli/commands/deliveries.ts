/** `retinue deliveries`: lists deliveries that nothing handled or understood, and shows the body of one. */
import { defined } from "../../core/defined.ts";
import { Misconfigured } from "../../core/errors.ts";
import { parseJson } from "../../core/json.ts";
import { PAGE_OPTIONS, pageQuery } from "../args.ts";
import { EXIT, OPTIONS, type Command, type Context, type ExitCode } from "../command.ts";
import { withGuardian } from "../find-guardian.ts";
import { moment } from "../format-values.ts";
import { say } from "../text.ts";
import type { KeptDelivery } from "../../store/history.ts";

export const command: Command = {
  name: "deliveries",
  arguments: "[number]",
  describe: "Lists webhook deliveries that nothing handled or understood, newest last; with a number, shows the body of that one.",
  options: [
    { flags: "--as <handle>", describe: "only those of this specialist" },
    { flags: "--kind <word>", describe: "only this kind, by the network's own word" },
    ...PAGE_OPTIONS,
    OPTIONS.store,
    OPTIONS.config,
  ],
  examples: ["retinue deliveries --kind post.pinned", "retinue deliveries 42"],
  run: (context) => (context.args[0] === undefined ? list(context) : showOne(numberOf(context.args[0]), context)),
};

async function list(context: Context): Promise<ExitCode> {
  const { options, out, clock } = context;
  const { entries, next, unseen } = await withGuardian(context, (guardian) => guardian.deliveries(pageQuery(options)));
  const now = clock.now();
  out.table(entries.toReversed(), [
    { title: "number", value: ({ seq }) => seq, align: "right" },
    { title: "specialist", value: ({ specialist }) => specialist },
    { title: "kind", value: ({ kind: word }) => word ?? "(no kind)" },
    { title: "came", value: ({ receivedAt }) => moment(receivedAt, now) },
    { title: "bytes", value: ({ bytes }) => bytes, align: "right" },
    { title: "why", value: whyKept },
  ]);
  if (entries.length === 0) out.line("none is stored: every delivery was handled, or none came");
  else out.line(out.paint.dim(`the body of one: retinue deliveries ${entries[0]?.seq ?? ""}`));
  if (unseen !== undefined) out.paragraph(unseen, out.paint.yellow);
  if (next !== undefined) out.line(out.paint.dim(`older ones: retinue deliveries --before ${next}`));
  out.result({ ok: true, entries, ...defined({ next, unseen }) });
  return EXIT.done;
}

async function showOne(seq: number, context: Context): Promise<ExitCode> {
  const { out, clock } = context;
  const shown = await withGuardian(context, (guardian) => guardian.delivery({ seq }));
  const what = out.paint.bold(shown.kind ?? "(no kind)");
  out.line(say`${what} to ${shown.specialist}, ${moment(shown.receivedAt, clock.now())}: ${whyKept(shown)}`);
  out.line(out.paint.dim(`scheme ${shown.scheme}, id ${shown.id}`));
  const json = parseJson(shown.body);
  if (json === undefined) out.quote(shown.body);
  else out.value(json);
  out.result({ ok: true, ...shown });
  return EXIT.done;
}

function whyKept({ state, note }: KeptDelivery): string {
  const why = state === "unhandled" ? "nothing handles its kind" : "not understood";
  return note === undefined ? why : `${why}: ${note}`;
}

function numberOf(text: string): number {
  const seq = Number(text);
  if (Number.isSafeInteger(seq) && seq > 0) return seq;
  throw new Misconfigured("option_invalid", `${JSON.stringify(text)} is not the number of a delivery`, {
    expected: "a number that retinue deliveries lists",
  });
}
