/** Lays facts out as an accent does: each under its own name, beside or below each other. */
import type { Json, JsonObject } from "../../../../src/core/json.ts";
import { handleOf } from "../../../../src/local-network/wire/wire.ts";
import type { World } from "../../../../src/local-network/world/world.ts";
import type { Ids } from "./ids.ts";
import { timeIn } from "./times.ts";
import { cased, type PersonStyle, type Voice } from "./voice.ts";
import type { Recorded } from "./words.ts";

/** A fact's value under its path in the record. */
export type Placed = readonly [path: readonly string[], value: Json];

export type Facts = Readonly<Record<string, Json | undefined>>;

export interface Telling {
  readonly world: World;
  readonly voice: Voice;
  readonly ids: Ids;
  /** Words in the accent's case. */
  readonly name: (words: string) => string;
  readonly time: (ms: number) => Json;
  /** A record of its facts; those without a value are left out. */
  readonly tell: (record: Recorded, facts: Facts, people?: readonly Placed[]) => JsonObject;
  readonly person: (style: PersonStyle, accountId: string | undefined) => readonly Placed[];
}

/** Facts that stand in a section of their own where the accent has sections. */
const SECTIONS: Readonly<Record<string, string>> = {
  votes: "stats",
  replyCount: "stats",
  applications: "stats",
  members: "stats",
  createdAt: "meta",
  deadline: "meta",
};

export function tellingIn(world: World, voice: Voice, ids: Ids): Telling {
  const name = (words: string): string => cased(voice.letters, words);
  return {
    world,
    voice,
    ids,
    name,
    time: (ms) => timeIn(voice.times, ms),
    tell(record, facts, people = []) {
      const placed = Object.entries(facts).flatMap(([fact, value]): Placed[] =>
        value === undefined ? [] : [[placeOf(voice, record, fact), value]],
      );
      const within = people.map(([path, value]): Placed => [voice.layout === "attributes" ? ["attributes", ...path] : path, value]);
      return laid([...placed, ...within]);
    },
    person({ shape, word, id, handle }, accountId) {
      const said = accountId === undefined ? null : ids.say(accountId);
      const called = handleOf(world, accountId);
      switch (shape) {
        case "nested":
          return [[[name(word)], accountId === undefined ? null : { [name(id)]: said, [name(handle)]: called }]];
        case "flat":
          return [
            [[name(`${word} ${id}`)], said],
            [[name(`${word} ${handle}`)], called],
          ];
        case "handle":
          return [[[name(word)], called]];
        case "id":
          return [[[name(`${word} ${id}`)], said]];
      }
    },
  };
}

/** The place of a fact in its record. */
export function placeOf(voice: Voice, record: Recorded, fact: string): readonly string[] {
  const name = (words: string): string => cased(voice.letters, words);
  const own = name(voice.names[record][fact] ?? fact);
  if (fact === "id" || voice.layout === "flat") return [own];
  if (voice.layout === "attributes") return ["attributes", own];
  const section = SECTIONS[fact];
  return section === undefined ? [own] : [name(section), own];
}

/** The places of a person's id and handle in a record. */
export function placesOf(
  voice: Voice,
  { shape, word, id, handle }: PersonStyle,
): { readonly id?: readonly string[]; readonly handle?: readonly string[] } {
  const name = (words: string): string => cased(voice.letters, words);
  const above = voice.layout === "attributes" ? ["attributes"] : [];
  switch (shape) {
    case "nested":
      return { id: [...above, name(word), name(id)], handle: [...above, name(word), name(handle)] };
    case "flat":
      return { id: [...above, name(`${word} ${id}`)], handle: [...above, name(`${word} ${handle}`)] };
    case "handle":
      return { handle: [...above, name(word)] };
    case "id":
      return { id: [...above, name(`${word} ${id}`)] };
  }
}

export function laid(placed: readonly Placed[]): JsonObject {
  const root: Record<string, Json> = {};
  for (const [path, value] of placed) {
    let place = root;
    for (const segment of path.slice(0, -1)) place = place[segment] = (place[segment] as Record<string, Json> | undefined) ?? {};
    const last = path.at(-1);
    if (last !== undefined) place[last] = value;
  }
  return root;
}
