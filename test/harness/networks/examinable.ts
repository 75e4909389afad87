/** An invented network with some life on it, and its OpenAPI document without a name of ours, for the doctor to examine. */
import { join } from "node:path";
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { createClient, type Exchange } from "../../../src/client/client.ts";
import type { Call } from "../../../src/contract/call.ts";
import { openApiDocument } from "../../../src/contract/openapi/openapi.ts";
import { resolveProfile, type Profile } from "../../../src/contract/profile/profile.ts";
import type { ProfileSource } from "../../../src/contract/profile/source.ts";
import { isObject, type Json } from "../../../src/core/json.ts";
import { Secret } from "../../../src/core/secret.ts";
import { MINUTE, SECOND } from "../../../src/core/units.ts";
import { virtualClock, type VirtualClock } from "../../../src/core/virtual-clock.ts";
import type { Transport } from "../../../src/client/transport.ts";
import { Board, PEOPLE } from "./board.ts";
import type { Invented } from "./invented-network.ts";
import { ORIGIN } from "./joined.ts";
import { inWords, profileInWords, type Words } from "./nonsense.ts";

export interface Examinable {
  readonly clock: VirtualClock;
  readonly truth: ProfileSource;
  /** The part of the truth that no read shows: paths, bodies, the place of the key. */
  readonly marks: ProfileSource;
  readonly document: string;
  readonly connect: (profile: Profile) => (call: Call) => Promise<Exchange>;
}

/** `words` renames every field of bodies, and every place that the truth names. */
export async function examinable(invented: Invented, words?: Words): Promise<Examinable> {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const board = new Board(clock);
  const network = invented.open(board, clock, () => Promise.resolve(200));
  const visitor = String(invented.specialist.handle);
  for (let i = 0; i < 14; i++) {
    const post = board.say(PEOPLE[i % 3] ?? "ada", `What do you think of number ${i}, and of the others?`);
    if (i % 2 === 0) board.say(PEOPLE[(i + 1) % 3] ?? "bert", `Not much of ${i}, to be honest.`, post);
    await clock.advance(MINUTE);
  }
  const jobs = Array.from({ length: 12 }, (_, i) => board.offer(PEOPLE[i % 3] ?? "ada", `task ${i}`, 500 + 10 * i));
  for (const job of jobs.slice(0, 6)) board.bid(job, visitor);
  await clock.advance(5 * MINUTE);
  for (const job of jobs.slice(0, 3)) board.begin(job, visitor);
  for (const job of jobs.slice(0, 2)) board.hand(job, visitor, "done");
  await clock.advance(4 * MINUTE);
  const written = truthOf(invented.name);
  const truth = words === undefined ? written : profileInWords(written, words);
  const transport: Transport = async ({ method, path, headers, body = "" }) => {
    await clock.advance(3 * SECOND); // some networks limit bursts
    const { pathname, searchParams } = new URL(path, ORIGIN);
    const reply = network.answer({ method, path: pathname, query: searchParams, headers, body, at: {} });
    const said = words === undefined || PROTOCOL.test(pathname) ? reply.body : inWords(reply.body ?? null, words);
    const text = reply.body === undefined ? "" : JSON.stringify(said);
    return { kind: "answer", status: reply.status, headers: { ...reply.headers }, text, elapsedMs: 1 };
  };
  // A token serves every connection, since trades are limited.
  const tokens: Secret[] = [];
  return {
    clock,
    truth,
    marks: marksIn(truth),
    document: documentOf(written),
    connect: (profile) => {
      const client = createClient({ profile, baseUrl: ORIGIN, clock, transport });
      const key = new Secret(invented.key);
      return async (call) => {
        if (profile.auth.exchange && tokens.length === 0) {
          const { outcome } = await client.exchange({ operation: "auth.token", input: {} }, { key });
          const token = outcome.class === "confirmed" ? outcome.secrets?.accessToken : undefined;
          if (token !== undefined) tokens.push(token);
        }
        return client.exchange(call, { key: tokens[0] ?? key });
      };
    },
  };
}

/** The profile by which a network is joined. */
export function truthOf(name: string): ProfileSource {
  return parse(readFileSync(join(import.meta.dirname, `${name}.yaml`), "utf8")) as ProfileSource;
}

/** Its OpenAPI document, in its own words alone. */
export function documentOf(truth: ProfileSource): string {
  return JSON.stringify(nameless(openApiDocument("b", resolveProfile(truth))), undefined, 1);
}

function marksIn({ extends: set, name, operations = {}, extra, auth, headers, idempotencyHeader }: ProfileSource): ProfileSource {
  const kept = Object.entries(operations).map(([operation, { paging: _shown, ...rest }]) => [operation, rest] as const);
  return {
    extends: set,
    ...(name === undefined ? {} : { name }),
    operations: Object.fromEntries(kept),
    ...(extra === undefined ? {} : { extra }),
    ...(auth === undefined ? {} : { auth }),
    ...(headers === undefined ? {} : { headers }),
    ...(idempotencyHeader === undefined ? {} : { idempotencyHeader }),
  };
}

/** Answers whose fields a standard names. */
const PROTOCOL = /^\/oauth\//;

/** Without the names and sentences of our own table, which would give everything away. */
function nameless(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(nameless);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(
    ([key, item]) => item !== undefined && !/^(?:operationId|tags|summary|servers|x-.*)$/.test(key),
  );
  return Object.fromEntries(kept.map(([key, item]) => [key, nameless(item ?? null)]));
}
