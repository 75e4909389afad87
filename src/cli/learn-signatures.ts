/** `retinue doctor --webhooks`: takes deliveries and acts on none, and says which scheme they are signed by. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { addDraft } from "../doctor/draft-profile.ts";
import { loadConfig, type Config } from "../config/config.ts";
import { environmentSecrets } from "../config/key-sources.ts";
import { loadProfile } from "../config/profile-file.ts";
import { profileYaml, withWebhooks } from "../config/profile-write.ts";
import { resolveProfile, type Profile } from "../contract/profile/profile.ts";
import { Scrubber } from "../core/scrubber.ts";
import { xKindOf } from "../webhooks/interpret.ts";
import {
  createRecorder,
  learnSchemes,
  recordingGate,
  seenDelivery,
  type DeliveryRecorder,
  type LearntScheme,
  type RecordedDelivery,
} from "../doctor/learn-webhooks.ts";
import { createReceiver } from "../webhooks/receiver/http.ts";
import { deliveryUrl } from "../webhooks/receiver-settings.ts";
import { EXIT, type Context, type ExitCode } from "./command.ts";
import { openLifetime } from "./lifetime.ts";
import { say } from "./text.ts";
import { writtenProfile } from "./written-profile.ts";

export interface LearningOptions {
  readonly forMs: number | undefined;
  /** Absolute path of the profile to write or patch. */
  readonly writeTo: string | undefined;
}

/** With fewer deliveries than this behind it, a scheme is written as a guess. */
const SURE = 3;
/** Deliveries shown as they come; later ones are counted. */
const MAX_SHOWN = 100;
const MAX_LINES = 40;
/** Stands for the specialist in an address that is shown. */
const HANDLE = "HANDLE";

interface Learning {
  readonly context: Context;
  readonly config: Config;
  readonly profile: Profile;
  readonly recorder: DeliveryRecorder;
  readonly scrubber: Scrubber;
}

/** Records until it is over, then says what was learnt. Answers `failed` where no scheme fits. */
export async function learnWebhooks(context: Context, { forMs, writeTo }: LearningOptions): Promise<ExitCode> {
  const { clock, cwd, env, flags } = context;
  // Without a secret there is nothing to try, but still something to see.
  const config = await loadConfig({ flags: { ...flags, allowUnsigned: true }, env, cwd });
  const profile = await loadProfile(config.network.profile);
  if (writeTo !== undefined) await writtenProfile(existsSync(writeTo) ? writeTo : config.network.profile); // what cannot be added to is said now
  const learning: Learning = { context, config, profile, recorder: createRecorder(), scrubber: new Scrubber() };
  for (const secret of environmentSecrets(config.environment)) learning.scrubber.add(secret);
  const gate = recordingGate(learning.recorder, clock, (delivery) => told(learning, delivery));
  const receiver = createReceiver({ gate, clock });
  const lifetime = openLifetime(clock, forMs === undefined ? {} : { forMs });
  try {
    const { url } = await receiver.listen({ port: config.receiver.port ?? 0, host: config.receiver.host });
    introduce(learning, url);
    await lifetime.over;
  } finally {
    await receiver.close();
    lifetime.close();
  }
  return report(learning, writeTo);
}

function introduce({ context: { out, clock }, config: { receiver } }: Learning, url: string): void {
  const address = deliveryUrl(receiver.url ?? url, HANDLE);
  const withoutSecret = receiver.readSecrets(HANDLE).length === 0;
  out.progress({ type: "listening", at: clock.now(), url: `${url}${HANDLE}`, register: address, secret: !withoutSecret }, [
    `Deliveries are recorded at ${url}${HANDLE}, and nothing is acted on. Ctrl-C ends it.`,
    receiver.url === undefined
      ? `RETINUE_WEBHOOK_URL is not set: lead a public address to that port, and register it with /webhooks/${HANDLE} at its end.`
      : `Register ${address} with the network, then make something happen there.`,
    `${HANDLE} stands for the specialist's; where the secret is to be part of the address, it follows as /webhooks/${HANDLE}/<secret>.`,
    ...(withoutSecret ? [out.paint.yellow("RETINUE_WEBHOOK_SECRET is not set: no scheme can be tried until it is.")] : []),
    "",
  ]);
}

/** One line for each delivery as it comes. */
function told({ context: { out }, config, profile, recorder, scrubber }: Learning, delivery: RecordedDelivery): void {
  if (recorder.count > MAX_SHOWN) return;
  const { kind, bytes, sha256, at, maybeSigned } = seenDelivery(delivery, profile, scrubber);
  const [best] = schemesIn([delivery], { config, profile, scrubber });
  const verdict =
    best === undefined
      ? out.paint.yellow(maybeSigned.length === 0 ? "carries no signature" : `no scheme fits (${maybeSigned.join(", ")})`)
      : out.paint.green(`signed: ${nameOf(best)}`);
  const { specialist } = delivery;
  out.progress(
    { type: "delivery", at, specialist, kind, bytes, sha256, scheme: best?.scheme, signature: best?.signature },
    say`${new Date(at).toISOString().slice(11, 19)}  ${specialist}  ${kind ?? "(no kind)"}  ${bytes} bytes  sha256 ${sha256.slice(0, 12)}…  ${verdict}`,
  );
}

/** The schemes that fit, without secrets: a sender chooses the names of its headers. */
function schemesIn(
  recorded: readonly RecordedDelivery[],
  { config, profile, scrubber }: Pick<Learning, "config" | "profile" | "scrubber">,
): readonly LearntScheme[] {
  const learnt = learnSchemes(recorded, config.receiver.readSecrets, profile);
  return JSON.parse(scrubber.cleanJson(JSON.stringify(learnt))) as readonly LearntScheme[]; // which are JSON as they are
}

function nameOf({ scheme, signature }: LearntScheme): string {
  return signature === undefined ? scheme : `${scheme} (${scheme === "body" ? "body: " : ""}${signature})`;
}

async function report({ context, config, profile, recorder, scrubber }: Learning, writeTo: string | undefined): Promise<ExitCode> {
  const { out, version, command: name } = context;
  const seen = recorder.seen(profile, scrubber);
  const schemes = schemesIn(recorder.recorded(), { config, profile, scrubber });
  const [best] = schemes;
  const kinds = kindsOf(
    seen.map(({ kind }) => kind),
    profile,
  );
  const headers = [...new Set(seen.flatMap((one) => one.headers))];
  const shape = [...new Set(seen.flatMap((one) => one.shape))];
  const maybeSigned = [...new Set(seen.flatMap((one) => one.maybeSigned))];
  const lines = (title: string, items: readonly string[]): void => {
    const more = items.length > MAX_LINES ? [`and ${items.length - MAX_LINES} more`] : [];
    if (items.length === 0) return;
    out.line();
    out.line(out.paint.bold(title));
    for (const item of [...items.slice(0, MAX_LINES), ...more]) out.line(`  ${item}`);
  };
  out.line();
  out.line(`${recorder.count} deliveries${recorder.count > seen.length ? `, of which the last ${seen.length} were looked at` : ""}`);
  lines(
    "Kinds",
    kinds.map(({ kind, count, means }) => `${kind} ${count}: ${means}`),
  );
  lines("Headers", headers);
  lines("Shape", shape);
  out.line();
  showSchemes(schemes, seen.length, maybeSigned, context);
  const isWritten = best !== undefined && writeTo !== undefined;
  if (isWritten) await write(best, { context, config }, writeTo);
  out.result({
    version,
    command: name,
    ok: best !== undefined,
    deliveries: recorder.count,
    schemes: schemes.map(({ profile: _profile, ...rest }) => rest),
    kinds,
    headers,
    shape,
    maybeSigned,
    seen,
    ...(best === undefined ? {} : { profile: best.profile }),
    ...(isWritten ? { written: writeTo } : {}),
  });
  return best === undefined ? EXIT.failed : EXIT.done;
}

function showSchemes(schemes: readonly LearntScheme[], of: number, maybeSigned: readonly string[], { out }: Context): void {
  const { paint } = out;
  const [best, ...others] = schemes;
  if (best === undefined) {
    out.line(paint.yellow(of === 0 ? "Nothing came, so nothing was learnt." : "No scheme we know fits with the secret we have."));
    if (maybeSigned.length > 0)
      out.line(`What could be a signature: ${maybeSigned.join(", ")}. Is RETINUE_WEBHOOK_SECRET the one the network signs with?`);
    return;
  }
  out.line(say`${paint.green(`The scheme is ${nameOf(best)}`)}: it fits ${best.fits} of ${best.of} deliveries.`);
  if (best.timely < best.fits)
    out.line(
      paint.yellow(`${best.fits - best.timely} of them would be refused as too old or too early: look at the clock of this machine.`),
    );
  if (best.bySecret.length > 1) out.line(`By secret, in their order: ${best.bySecret.join(", ")}.`);
  if (best.scheme === "path") out.line("The secret in the address says who sent it, not what: such deliveries are hints to look.");
  for (const other of others) out.line(paint.dim(`${nameOf(other)} fits ${other.fits} of ${other.of}, too`));
  const { scheme, ...named } = best.profile.webhooks;
  const rules = [`scheme: ${scheme ?? ""}`, ...Object.entries(named).map(([field, value]) => `${field}: ${JSON.stringify(value)}`)];
  for (const line of ["", "In a profile:", "", "  webhooks:", ...rules.map((rule) => `    ${rule}`)]) out.line(line);
}

/** Each word for a kind, how often it came, and what it is to us. */
function kindsOf(words: readonly (string | undefined)[], { webhooks }: Profile): readonly { kind: string; count: number; means: string }[] {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word ?? "", (counts.get(word ?? "") ?? 0) + 1);
  const meansOf = (word: string): string => {
    if (word === "") return "a hint to look: no kind was found";
    const known = Object.hasOwn(webhooks.kinds, word) ? webhooks.kinds[word] : undefined;
    const decided = Object.hasOwn(webhooks.decisions, word) ? webhooks.decisions[word] : undefined;
    return known ?? decided ?? `${xKindOf(word)}, as no kind of ours`;
  };
  return [...counts].map(([word, count]) => ({ kind: word === "" ? "(none)" : word, count, means: meansOf(word) }));
}

/** An existing file is patched, its comments kept; a new one is the profile in use with the rules that were learnt. */
async function write(best: LearntScheme, { context, config }: Pick<Learning, "context" | "config">, file: string): Promise<void> {
  const { out, clock } = context;
  const isGuess = best.fits < Math.max(SURE, best.of);
  const guesses = isGuess ? ["webhooks.scheme"] : [];
  if (existsSync(file)) writeFileSync(file, withWebhooks(readFileSync(file, "utf8"), best.profile.webhooks, guesses));
  else {
    const source = addDraft(await writtenProfile(config.network.profile), { ...best.profile, guesses });
    resolveProfile(source);
    const day = new Date(clock.now()).toISOString().slice(0, 10);
    writeFileSync(file, profileYaml(source, [`Webhooks learnt by retinue doctor on ${day}, from ${best.fits} of ${best.of} deliveries.`]));
  }
  out.line();
  out.line(`written to ${file}${isGuess ? `, as a guess: fewer than ${SURE} deliveries, or not all of them, are behind it` : ""}`);
}
