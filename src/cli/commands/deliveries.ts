/** `retinue deliveries`: what the network delivered that nobody handled or understood, and the body of one of them. */
import { Misconfigured } from "../../core/errors.ts";
import { parseJson } from "../../core/json.ts";
import type { DeliveryShown } from "../../runtime/shown-deliveries.ts";
import type { KeptDelivery } from "../../store/store.ts";
import { textOption, wholeOption } from "../args.ts";
import { EXIT, OPTIONS, type Command, type Context, type ExitCode } from "../command.ts";
import { storeConfig, withGuardian } from "../guardian.ts";
import { printable } from "../output.ts";
import { moment, withoutSecrets } from "../showing.ts";

const DEFAULT_LINES = 50;
const MAX_LINES = 1_000;
/** A delivery by this scheme holds its secret. */
const TELLS_SECRET = "body";

export const command: Command = {
  name: "deliveries",
  arguments: "[number]",
  describe: "Webhook deliveries that nobody handled or understood, newest last; with a number, what came with that one.",
  options: [
    { flags: "--as <handle>", describe: "only this specialist's" },
    { flags: "--kind <word>", describe: "only these, by the network's own word" },
    { flags: "--lines <number>", describe: `how many (default: ${DEFAULT_LINES})` },
    { flags: "--before <number>", describe: "older ones, as the end of the last page says" },
    OPTIONS.store,
    OPTIONS.config,
  ],
  examples: ["retinue deliveries --kind post.pinned", "retinue deliveries 42"],
  run: (context) => (context.args[0] === undefined ? list(context) : showOne(numberOf(context.args[0]), context)),
};

async function list(context: Context): Promise<ExitCode> {
  const { options, out, clock } = context;
  const handle = textOption(options, "as");
  const kind = textOption(options, "kind");
  const before = wholeOption(options, "before", { min: 1, max: Number.MAX_SAFE_INTEGER });
  const limit = wholeOption(options, "lines", { min: 1, max: MAX_LINES }) ?? DEFAULT_LINES;
  const query = {
    limit,
    ...(handle === undefined ? {} : { handle }),
    ...(kind === undefined ? {} : { kind }),
    ...(before === undefined ? {} : { before }),
  };
  const { entries, next } = await withGuardian(context, (guardian) => guardian.deliveries(query));
  const now = clock.now();
  out.table(entries.toReversed(), [
    { title: "number", value: ({ seq }) => seq, align: "right" },
    { title: "specialist", value: ({ specialist }) => specialist },
    { title: "kind", value: ({ kind: word }) => word ?? "(no kind)" },
    { title: "came", value: ({ receivedAt }) => moment(receivedAt, now) },
    { title: "bytes", value: ({ bytes }) => bytes, align: "right" },
    { title: "why", value: whyKept },
  ]);
  if (entries.length === 0) out.line("none is kept: all that came was handled, or nothing came");
  else out.line(out.paint.dim(`what came with one: retinue deliveries ${entries[0]?.seq ?? ""}`));
  if (next !== undefined) out.line(out.paint.dim(`older ones: retinue deliveries --before ${next}`));
  out.result({ ok: true, entries, ...(next === undefined ? {} : { next }) });
  return EXIT.done;
}

async function showOne(seq: number, context: Context): Promise<ExitCode> {
  const { out, clock } = context;
  const { receiver } = await storeConfig(context);
  const found = await withGuardian(context, (guardian) => guardian.delivery({ seq }));
  const secrets = receiver.readSecrets(found.specialist);
  if (found.scheme === TELLS_SECRET && secrets.length === 0)
    throw new Misconfigured("secret_unknown", `delivery ${seq} holds the webhook's secret, which is not to be shown`, {
      hint: "set RETINUE_WEBHOOK_SECRET as it is for retinue run, so that it can be taken out",
    });
  const shown: DeliveryShown = withoutSecrets(found, secrets);
  const what = printable(shown.kind ?? "(no kind)");
  out.line(`${out.paint.bold(what)} to ${shown.specialist}, ${moment(shown.receivedAt, clock.now())}: ${printable(whyKept(shown))}`);
  out.line(out.paint.dim(`scheme ${shown.scheme}, id ${printable(shown.id)}`));
  const json = parseJson(shown.body);
  out.line(printable(json === undefined ? shown.body : JSON.stringify(json, undefined, 2)));
  out.result({ ok: true, ...shown });
  return EXIT.done;
}

function whyKept({ state, note }: KeptDelivery): string {
  const why = state === "unhandled" ? "nobody handles its kind" : "not understood";
  return note === undefined ? why : `${why}: ${note}`;
}

function numberOf(text: string): number {
  const seq = Number(text);
  if (Number.isSafeInteger(seq) && seq > 0) return seq;
  throw new Misconfigured("option_invalid", `${JSON.stringify(text)} is no delivery`, {
    expected: "its number, as retinue deliveries lists it",
  });
}
