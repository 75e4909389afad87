/** Measures the doctor on accents: its share of right fields, by reads after a person's marks, and by document and reads alone. */
import { createClient } from "../../../src/client/client.ts";
import type { Transport } from "../../../src/client/transport.ts";
import type { Call } from "../../../src/contract/call.ts";
import type { EndpointSet } from "../../../src/contract/operations.ts";
import { resolveProfile, shippedProfile, type Profile } from "../../../src/contract/profile/profile.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { Secret } from "../../../src/core/secret.ts";
import { MINUTE } from "../../../src/core/units.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { applied } from "../../../src/doctor/draft-profile.ts";
import { examine } from "../../../src/doctor/examine.ts";
import type { Finding } from "../../../src/doctor/finding.ts";
import { examineDocument } from "../../../src/doctor/openapi/examine-document.ts";
import { openDocument } from "../../../src/doctor/openapi/open-document.ts";
import { createLocalNetwork } from "../../../src/local-network/local-network.ts";
import { scoreDraft, shareOf, type Scored } from "../../harness/doctor-share.ts";
import { profileInWords, textInWords, type Words } from "../../harness/networks/nonsense.ts";
import { plainLink } from "../../harness/plain-transport.ts";
import { marksOf } from "./marks.ts";
import { truthOf } from "./truth.ts";
import { accent } from "./wire/accent.ts";
import { documentIn } from "./wire/document.ts";

/** Enough life that a doctor finds posts with answers, and jobs. */
const RESIDENTS = { perMinute: { post: 10, reply: 15, like: 6, offer: 8, work: 4 }, already: { post: 25, reply: 25, offer: 6 } };
const BASE = { a: "http://network.invalid", b: "http://network.invalid/v1" } as const;

export interface Shares {
  readonly seed: number;
  readonly set: EndpointSet;
  /** After a person's marks: the doctor's reads. */
  readonly read: readonly Scored[];
  /** Without any mark: the network's document, then reads. */
  readonly documented: readonly Scored[];
}

/** With `words`, fields have names that nobody speaks, and reads alone count. */
export async function sharesOf(seed: number, set: EndpointSet, words?: Words): Promise<Shares> {
  const clock = virtualClock();
  const spoken = accent(seed);
  const network = createLocalNetwork({ clock, random: seededRandom(`shares ${seed}`), ...spoken.network, residents: RESIDENTS });
  network.start();
  await clock.runUntil(() => false, MINUTE);
  const plain = plainLink(network, set);
  const transport: Transport = async (request) => {
    const wire = await plain(request);
    return wire.kind === "answer" && words !== undefined ? { ...wire, text: textInWords(wire.text, words) } : wire;
  };
  // Each way has an account of its own, so that neither uses the other's quota.
  const connect = (handle: string) => {
    const { key } = network.provision({ handle, tier: "pro", set });
    return (profile: Profile) => {
      const client = createClient({ profile, baseUrl: BASE[set], clock, transport });
      return (call: Call) => client.exchange(call, { key: new Secret(key) });
    };
  };
  const truth = words === undefined ? truthOf(spoken, set) : profileInWords(truthOf(spoken, set), words);
  const examined = async (handle: string, profile: Profile, known: readonly Finding[]): Promise<readonly Scored[]> => {
    const findings: Finding[] = [...known];
    for await (const found of examine({ profile, connect: connect(handle), known })) findings.push(found);
    return scoreDraft({ truth, draft: applied(profile, findings).profile, connect: connect(`judge-${handle}`) });
  };
  const document = openDocument(JSON.stringify(documentIn(spoken.voice, set)), "accent");
  const shipped = shippedProfile(set);
  const scores = (async (): Promise<Shares> => {
    const marks = marksOf(spoken, set);
    const { records: _records, ...told } = words === undefined ? marks : profileInWords(marks, words);
    const read = await examined("reader", resolveProfile(told), []);
    if (words !== undefined) return { seed, set, read, documented: [] };
    const known = await examineDocument({ document, profile: shipped, baseUrl: BASE[set], clock });
    const documented = await examined("stranger", shipped, known);
    return { seed, set, read, documented };
  })();
  await clock.run(scores);
  await clock.run(network.stop());
  return scores;
}

/** One line for each variant. */
export function rowOf(name: string, read: readonly Scored[], documented: readonly Scored[]): string {
  const percent = (scored: readonly Scored[], keep?: (one: Scored) => boolean): string => {
    const { right, of, share } = shareOf(scored, keep);
    return `${right} of ${of} (${Math.floor(share * 100)} %)`.padStart(18);
  };
  return `${name.padEnd(8)} ${percent(read, ({ readable }) => readable)} ${percent(documented)}`;
}

if (import.meta.main) {
  const [from = "0", count = "20"] = process.argv.slice(2);
  const misses = new Map<string, string[]>();
  process.stdout.write(`${"accent".padEnd(8)} ${"reads".padStart(18)} ${"document + reads".padStart(18)}\n`);
  for (let seed = Number(from); seed < Number(from) + Number(count); seed++) {
    const { set, read, documented } = await sharesOf(seed, seed % 2 === 0 ? "b" : "a");
    process.stdout.write(`${rowOf(`${seed} ${set}`, read, documented)}\n`);
    for (const [way, scored] of [
      ["reads", read.filter(({ readable }) => readable)],
      ["document", documented],
    ] as const)
      for (const { field, right, expected, got } of scored)
        if (!right) misses.set(`${way} ${field}`, [...(misses.get(`${way} ${field}`) ?? []), `${seed}: ${expected}, got ${got}`]);
  }
  for (const [field, cases] of [...misses].toSorted((a, b) => b[1].length - a[1].length).slice(0, 60))
    process.stdout.write(
      `${cases.length} ${field}\n${cases
        .slice(0, 4)
        .map((one) => `    ${one}\n`)
        .join("")}`,
    );
}
