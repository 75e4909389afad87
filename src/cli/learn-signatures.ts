/** `retinue doctor --webhooks`: records deliveries without acting on them, and finds their signature scheme. */
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
import type { Proposal } from "../doctor/finding.ts";
import { proposeKinds } from "../doctor/meanings.ts";
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

/** A scheme with fewer matching deliveries is written as a guess. */
const SURE = 3;
/** Deliveries shown on arrival; later ones are only counted. */
const MAX_SHOWN = 100;
const MAX_LINES = 40;
/** Placeholder for the specialist in a shown address. */
const HANDLE = "HANDLE";

interface Learning {
  readonly context: Context;
  readonly config: Config;
  readonly profile: Profile;
  readonly recorder: DeliveryRecorder;
  readonly scrubber: Scrubber;
}

/** Records until the end, then reports the result. Returns `failed` if no scheme fits. */
export async function learnWebhooks(context: Context, { forMs, writeTo }: LearningOptions): Promise<ExitCode> {
  const { clock, cwd, env, flags } = context;
  // Without a secret no scheme can be tried, but deliveries are still shown.
  const config = await loadConfig({ flags: { ...flags, allowUnsigned: true }, env, cwd });
  const profile = await loadProfile(config.network.profile);
  if (writeTo !== undefined) await writtenProfile(existsSync(writeTo) ? writeTo : config.network.profile); // a profile that cannot be extended is reported now
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
    `Deliveries are recorded at ${url}${HANDLE}, without acting on them. Ctrl-C ends it.`,
    receiver.url === undefined
      ? `RETINUE_WEBHOOK_URL is not set: forward a public address to that port, and register it with /webhooks/${HANDLE} at the end.`
      : `Register ${address} with the network, then make something happen there.`,
    `${HANDLE} is the specialist's handle; a secret in the address follows as /webhooks/${HANDLE}/<secret>.`,
    ...(withoutSecret ? [out.paint.yellow("RETINUE_WEBHOOK_SECRET is not set: no scheme can be tried without it.")] : []),
    "",
  ]);
}

/** Prints one line for each arriving delivery. */
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
  out.line(`${recorder.count} deliveries${recorder.count > seen.length ? `, of which the last ${seen.length} were examined` : ""}`);
  lines(
    "Kinds",
    kinds.map(({ kind, count, means }) => `${kind} ${count}: ${means}`),
  );
  lines("Headers", headers);
  lines("Shape", shape);
  out.line();
  showSchemes(schemes, seen.length, maybeSigned, context);
  const proposals = proposeKinds(
    profile,
    seen.flatMap(({ kind }) => kind ?? []),
  );
  for (const { path, value } of proposals) out.line(`  proposed: ${path.slice(1).join(".")}: ${JSON.stringify(value)}`);
  const isWritten = best !== undefined && writeTo !== undefined;
  if (isWritten) await write(best, proposals, { context, config }, writeTo);
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
    out.line(paint.yellow(of === 0 ? "No delivery came, so nothing was learnt." : "No known scheme fits the present secret."));
    if (maybeSigned.length > 0)
      out.line(`Possible signatures: ${maybeSigned.join(", ")}. Is RETINUE_WEBHOOK_SECRET the one the network signs with?`);
    return;
  }
  out.line(say`${paint.green(`The scheme is ${nameOf(best)}`)}: it fits ${best.fits} of ${best.of} deliveries.`);
  if (best.timely < best.fits)
    out.line(paint.yellow(`${best.fits - best.timely} of them would be refused as too old or too early: check the clock of this machine.`));
  if (best.bySecret.length > 1) out.line(`By secret, in their order: ${best.bySecret.join(", ")}.`);
  if (best.scheme === "path") out.line("The secret in the address proves the sender, not the content: such deliveries only cause reads.");
  for (const other of others) out.line(paint.dim(`${nameOf(other)} fits ${other.fits} of ${other.of}, too`));
  const { scheme, ...named } = best.profile.webhooks;
  const rules = [`scheme: ${scheme ?? ""}`, ...Object.entries(named).map(([field, value]) => `${field}: ${JSON.stringify(value)}`)];
  for (const line of ["", "In a profile:", "", "  webhooks:", ...rules.map((rule) => `    ${rule}`)]) out.line(line);
}

/** Each of the network's words for a kind, its count, and our kind for it. */
function kindsOf(words: readonly (string | undefined)[], { webhooks }: Profile): readonly { kind: string; count: number; means: string }[] {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word ?? "", (counts.get(word ?? "") ?? 0) + 1);
  const meansOf = (word: string): string => {
    if (word === "") return "only causes a read: no kind was found";
    const known = Object.hasOwn(webhooks.kinds, word) ? webhooks.kinds[word] : undefined;
    const decided = Object.hasOwn(webhooks.decisions, word) ? webhooks.decisions[word] : undefined;
    return known ?? decided ?? `${xKindOf(word)}, not one of our kinds`;
  };
  return [...counts].map(([word, count]) => ({ kind: word === "" ? "(none)" : word, count, means: meansOf(word) }));
}

/** An existing file is patched, its comments kept; a new one is the present profile with the learnt rules. */
async function write(
  best: LearntScheme,
  proposals: readonly Proposal[],
  { context, config }: Pick<Learning, "context" | "config">,
  file: string,
): Promise<void> {
  const { out, clock } = context;
  const isGuess = best.fits < Math.max(SURE, best.of);
  const guesses = [...(isGuess ? ["webhooks.scheme"] : []), ...proposals.map(({ path }) => path.join("."))];
  const named = Object.groupBy(proposals, ({ path }) => path[1] ?? "");
  const meanings = Object.entries(named).map(([part, found = []]) => [
    part,
    Object.fromEntries(found.map(({ path, value }) => [path[2], value])),
  ]);
  const webhooks = { ...best.profile.webhooks, ...Object.fromEntries(meanings) };
  if (existsSync(file)) {
    const stated = (await writtenProfile(file)).webhooks?.scheme;
    if (stated !== undefined && stated !== best.scheme) out.line(`the profile states the scheme ${stated}, and is left as it is`);
    writeFileSync(file, withWebhooks(readFileSync(file, "utf8"), webhooks, guesses));
  } else {
    const source = addDraft(await writtenProfile(config.network.profile), { ...best.profile, webhooks, guesses });
    resolveProfile(source);
    const day = new Date(clock.now()).toISOString().slice(0, 10);
    writeFileSync(file, profileYaml(source, [`Webhooks learnt by retinue doctor on ${day}, from ${best.fits} of ${best.of} deliveries.`]));
  }
  out.line();
  out.line(`written to ${file}${isGuess ? `, as a guess: it rests on fewer than ${SURE} deliveries, or not on all of them` : ""}`);
}
