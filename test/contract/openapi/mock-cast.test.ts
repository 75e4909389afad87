/**
 * The real runtime with the shipped cast against an independent mock of each set, over real sockets.
 *
 * What a mock cannot do: it has one example for each operation and no memory. So everybody on it is called ada, and the ids
 * of our accounts have to be given; the job's examples are those of a job that the data worker understands, open in the
 * list and ours when looked at; and one post is too little for a digest, which therefore says nothing.
 */
import { describe, expect, test, type TestContext } from "vitest";
import { createKeys } from "../../../src/client/auth.ts";
import { createTransport } from "../../../src/client/transport.ts";
import { openApiDocument } from "../../../src/contract/openapi/openapi.ts";
import { SETS, type EndpointSet } from "../../../src/contract/operations.ts";
import { shippedProfile } from "../../../src/contract/profile/profile.ts";
import { sleep, systemClock } from "../../../src/core/clock.ts";
import { createAnnouncer } from "../../../src/core/events.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { createLogger } from "../../../src/core/log.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { Secret } from "../../../src/core/secret.ts";
import { MINUTE } from "../../../src/core/units.ts";
import { livePacer } from "../../../src/limits/pacing.ts";
import { createRuntime } from "../../../src/runtime/runtime.ts";
import { createSpecialist } from "../../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { CAST } from "../../campaigns/accents/cast.ts";
import { startPrism, type Prism } from "../../harness/prism.ts";

/** All that the cast decides to do here, and who does it. */
const WRITES = [
  "curator posts.vote",
  "data-worker jobs.apply",
  "data-worker jobs.submit",
  "host communities.join",
  "host jobs.create",
  "welcomer posts.reply",
];
const LOOKS = ["curator feed", "data-worker jobs", "digest feed", "welcomer feed"];
/** The host's rounds are 15 s apart. */
const LONGEST_MS = 40_000;

/** The mock's examples are of one moment, long past. What is older than hours is no news, so they are made to be of now; a job is due then, too. */
function asOfNow(document: JsonObject): JsonObject {
  const example = "2026-01-05T09:00:00.000Z";
  const text = JSON.stringify(document);
  if (!text.includes(example)) throw new Error(`no example is of ${example}`);
  return JSON.parse(text.replaceAll(example, new Date(Date.now() + 5 * MINUTE).toISOString())) as JsonObject;
}

const DESCRIPTION =
  "Convert the CSV in `csv` to JSON. Fields are separated by commas. Lines that cannot be read go to `errors`, as stray_quote or column_count.";

/** The document with examples of one job that goes on: open in the list, assigned to the data worker when looked at. */
function withJob(document: JsonObject): JsonObject {
  const whole = structuredClone(document) as unknown as { paths: Record<string, { get: Answering }> };
  const exampleOf = (path: string): Example => whole.paths[path]?.get.responses["200"].content["application/json"].example ?? {};
  for (const job of exampleOf("/v1/jobs").jobs ?? []) job["description"] = DESCRIPTION;
  const mine = { id: "agent-of-data-worker", handle: "data-worker" };
  Object.assign(exampleOf("/v1/jobs/{id}"), { description: DESCRIPTION, status: "assigned", assignee: mine, input: { csv: "a,b\n1,2\n" } });
  return whole as unknown as JsonObject;
}

interface Answering {
  readonly responses: { readonly "200": { readonly content: { readonly "application/json": { readonly example: Example } } } };
}
type Example = { readonly jobs?: Record<string, Json>[] };

interface Seen {
  readonly confirmed: Set<string>;
  readonly looked: Set<string>;
  readonly followed: Set<string>;
  /** Everything that is not as it should be. */
  readonly wrong: Set<string>;
  readonly requests: number;
}

async function work({ onTestFinished }: TestContext, set: EndpointSet, prism: Prism): Promise<Seen> {
  const clock = systemClock();
  const random = seededRandom(11);
  const seen = {
    confirmed: new Set<string>(),
    looked: new Set<string>(),
    followed: new Set<string>(),
    wrong: new Set<string>(),
    requests: 0,
  };
  const announcer = createAnnouncer();
  const done = new AbortController();
  const look = (): void => {
    const isAll =
      WRITES.every((write) => seen.confirmed.has(write)) && LOOKS.every((one) => seen.looked.has(one)) && seen.followed.size > 0;
    if (isAll) done.abort();
  };
  announcer.on("intent", ({ handle, operation, state, message }) => {
    if (state === "confirmed") seen.confirmed.add(`${handle} ${operation}`);
    else if (state !== "ready" && state !== "sending") seen.wrong.add(`${handle} ${operation} is ${state}: ${message ?? ""}`);
    look();
  });
  announcer.on("poll", ({ handle, source, skipped }) => {
    seen.looked.add(`${handle} ${source}`);
    if (skipped > 0) seen.wrong.add(`${handle} could not read ${skipped} of ${source}`);
    look();
  });
  announcer.on("job", ({ job, state }) => {
    seen.followed.add(`${job} ${state}`);
    look();
  });
  announcer.on("run", ({ kind, result, message }) => {
    if (result !== "finished") seen.wrong.add(`the handling of ${kind} ${result}: ${message ?? ""}`);
  });
  announcer.on("request", ({ operation, outcome }) => {
    seen.requests++;
    if (outcome !== "confirmed") seen.wrong.add(`${operation} was ${outcome}`);
  });
  announcer.on("drift", ({ operation, kind, path }) => void seen.wrong.add(`${operation}: ${kind} of ${path}`));
  announcer.on("parked", ({ handle, message }) => void seen.wrong.add(`${handle} is parked: ${message}`));
  const transport = createTransport({ clock });
  const store = openSqliteStore({ path: ":memory:", clock, random });
  const runtime = createRuntime({
    specialists: CAST.map((definition) => createSpecialist({ ...definition, id: `agent-of-${definition.handle}` })),
    profile: shippedProfile(set),
    baseUrl: set === "a" ? prism.url : `${prism.url}/v1`,
    store,
    transport: transport.send,
    keys: createKeys({ read: (handle) => `key-of-${handle}`, salt: new Secret("mock") }),
    pacer: livePacer(clock),
    clock,
    random,
    log: createLogger({
      level: "warn",
      now: () => clock.now(),
      sink: ({ message, fields }) => void seen.wrong.add(`logged: ${message} ${JSON.stringify(fields)}`),
    }),
    announcer,
  });
  onTestFinished(async () => {
    await runtime.stop();
    await store.close();
    await transport.close();
  });
  await runtime.start();
  await sleep(clock, LONGEST_MS, done.signal);
  return seen;
}

describe.concurrent.each(SETS)("against an independent mock of set %s", (set) => {
  test("the cast reads what is there and has every write confirmed", async (context) => {
    const { expect: check } = context;
    const prism = await startPrism(withJob(asOfNow(openApiDocument(set))));
    context.onTestFinished(prism.stop);
    const seen = await work(context, set, prism);
    check([...seen.wrong]).toEqual([]);
    check([...seen.confirmed].sort()).toEqual(expect.arrayContaining(WRITES));
    check([...seen.looked]).toEqual(expect.arrayContaining(LOOKS));
    check([...seen.followed]).toContain("job-1 assigned");
    check(prism.violations).toEqual([]);
  });
});
