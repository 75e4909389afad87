/** Speaks to a network in its accent by its documentation, without any client of ours. */
import type { EndpointSet, OperationName } from "../../../src/contract/operations.ts";
import { isObject, parseJson, type Json, type JsonObject } from "../../../src/core/json.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { accent } from "./wire/accent.ts";
import { idsIn } from "./wire/ids.ts";
import type { Spoken } from "./wire/requests.ts";
import type { Voice } from "./wire/voice.ts";
import { cased } from "./wire/voice.ts";
import { createLocalNetwork } from "../../../src/local-network/local-network.ts";
import type { LocalNetwork } from "../../../src/local-network/options.ts";

export interface Heard {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly body: Json | undefined;
}

export interface Speaker {
  readonly network: LocalNetwork;
  readonly set: EndpointSet;
  readonly voice: Voice;
  readonly key: string;
  /** An object of each kind, by what its path asks for. */
  readonly targets: Readonly<Record<string, string>>;
  inputs(operation: OperationName): Readonly<Record<string, Json>>;
  write(content: string): void;
  /** The texts of the whole feed, read page by page. */
  texts(limit: number): Promise<string[]>;
}

export interface Question {
  readonly target?: string | undefined;
  readonly inputs?: Readonly<Record<string, Json>>;
  readonly query?: Readonly<Record<string, string>>;
}

/** Asks as the documentation says. */
export async function ask(
  { network, set, voice, key }: Pick<Speaker, "network" | "set" | "voice" | "key">,
  spoken: Spoken,
  question: Question,
): Promise<Heard> {
  const { target = "", inputs = {}, query = {} } = question;
  const body: Record<string, Json> = {};
  const put = (path: readonly string[], value: Json): void => {
    let at = body;
    for (const name of path.slice(0, -1)) at = at[name] = (at[name] as Record<string, Json> | undefined) ?? {};
    at[path.at(-1) ?? ""] = value;
  };
  for (const [input, value] of Object.entries(inputs)) {
    const words = spoken.words?.[input];
    put(spoken.inputs[input] ?? [input], words === undefined || typeof value !== "string" ? value : (words[value] ?? value));
  }
  if (spoken.targetAt !== undefined) put(spoken.targetAt, target);
  const hasBody = spoken.method !== "GET";
  const reply = await network.handle(set, {
    method: spoken.method,
    path: spoken.path.replace("{target}", encodeURIComponent(target)),
    query,
    headers: { [voice.auth.header]: `${voice.auth.prefix}${key}`, ...(hasBody ? { "content-type": "application/json" } : {}) },
    body: hasBody ? JSON.stringify(body) : "",
  });
  return { status: reply.status, headers: reply.headers, text: reply.body, body: parseJson(reply.body) };
}

/** A network in the accent of a seed, with one thing of every kind in it. */
export function speaking(seed: number, set: EndpointSet): Speaker {
  const clock = virtualClock();
  const { voice, documented, network: spoken } = accent(seed);
  const network = createLocalNetwork({ clock, random: seededRandom(seed), ...spoken });
  const ids = idsIn(voice.ids, voice.salt);
  const author = network.provision({ handle: "author", tier: "pro", set });
  const me = network.provision({ handle: "speaker", tier: "pro", set });
  const speech = documented[set];
  const speaker: Speaker = {
    network,
    set,
    voice,
    key: me.key,
    targets: {
      agent: set === "a" ? "speaker" : ids.inPath(me.id),
      post: ids.inPath("post_1"),
      job: ids.inPath("job_1"),
      community: set === "a" ? ids.inPath("com_1") : "general",
      webhook: ids.inPath("wh_1"),
    },
    inputs: (operation) => INPUTS[operation] ?? {},
    write: (content) => say(speech["posts.create"], { content }),
    async texts(limit) {
      const texts: string[] = [];
      let query: Readonly<Record<string, string>> | undefined = { [voice.paging.limit]: `${limit}` };
      for (let page = 0; query !== undefined && page < 10; page++) {
        const spoken = speech["posts.list"];
        if (spoken === undefined) throw new TypeError("expected posts to be listed");
        const heard = await ask(speaker, spoken, { query });
        const items = listIn(heard.body);
        texts.push(...items.map((item) => textIn(item)));
        query = items.length === 0 ? undefined : nextQuery(voice, heard, query, items.length);
      }
      return texts;
    },
  };
  function say(spoken: Spoken | undefined, inputs: Readonly<Record<string, Json>>): void {
    if (spoken === undefined) throw new TypeError("expected the operation to be offered");
    void ask({ ...speaker, key: author.key }, spoken, { inputs });
  }
  say(speech["posts.create"], { content: "a first post" });
  say(speech["jobs.create"], { title: "a job", description: "to be done", reward: 3 });
  if (set === "b")
    void ask(speaker, speech["webhooks.create"] ?? { method: "POST", path: "/v1/webhooks", inputs: {} }, {
      inputs: INPUTS["webhooks.create"] ?? {},
    });
  return speaker;
}

const INPUTS: { readonly [operation in OperationName]?: Readonly<Record<string, Json>> } = {
  "agents.create": { handle: "newcomer", bio: "hello" },
  "agents.update": { bio: "changed" },
  "auth.refresh": { refresh_token: "unknown" },
  "posts.create": { content: "words" },
  "posts.reply": { content: "an answer" },
  "posts.vote": { direction: "up" },
  "jobs.create": { title: "another", description: "to be done too" },
  "jobs.apply": { message: "I can" },
  "jobs.submit": { deliverable: { done: true } },
  "search.web": { query: "data" },
  "search.agents": { query: "speaker" },
  "search.jobs": { query: "job" },
  "webhooks.create": { url: "http://127.0.0.1:9/hook" },
};

/** The items of a list, wherever it is. */
export function listIn(value: Json | undefined): readonly JsonObject[] {
  if (Array.isArray(value)) return value.filter((item: Json): item is JsonObject => isObject(item));
  if (!isObject(value)) return [];
  for (const item of Object.values(value)) {
    const below = listIn(item);
    if (below.length > 0) return below;
  }
  return [];
}

/** Every post of these tests says what it is. */
function textIn(item: JsonObject): string {
  return /(post number \d+|a first post)/.exec(JSON.stringify(item))?.[1] ?? "";
}

function nextQuery(
  voice: Voice,
  { headers, body }: Heard,
  query: Readonly<Record<string, string>>,
  items: number,
): Readonly<Record<string, string>> | undefined {
  const { paging } = voice;
  const more = paging.more === "" ? undefined : find(body, cased(voice.letters, paging.more));
  if (more === false) return undefined;
  switch (paging.style) {
    case "page":
      return { ...query, page: `${Number(query["page"] ?? paging.first) + 1}` };
    case "offset":
      return { ...query, offset: `${Number(query["offset"] ?? 0) + items}` };
    case "link": {
      const link = /<[^?]*\?([^>]*)>/.exec(headers["link"] ?? "")?.[1];
      return link === undefined ? undefined : Object.fromEntries(new URLSearchParams(link));
    }
    case "body-link": {
      const link = find(body, "next");
      return typeof link === "string" ? Object.fromEntries(new URLSearchParams(link.split("?")[1])) : undefined;
    }
    case "cursor": {
      const cursor = find(body, paging.next.at(-1) ?? "");
      return typeof cursor === "string" ? { ...query, [paging.parameter]: cursor } : undefined;
    }
  }
}

function find(value: Json | undefined, name: string): Json | undefined {
  if (!isObject(value)) return undefined;
  if (value[name] !== undefined && !isObject(value[name])) return value[name];
  for (const item of Object.values(value)) {
    const found = find(item, name);
    if (found !== undefined) return found;
  }
  return undefined;
}
