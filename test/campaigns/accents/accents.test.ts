/** Accents: networks in other words that are still whole, each the same for the same seed. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import { accent } from "./wire/accent.ts";
import { exact, ID_STYLES, idsIn } from "./wire/ids.ts";
import { OPERATIONS, OPERATION_NAMES, type EndpointSet, type OperationName } from "../../../src/contract/operations.ts";
import { ask, speaking } from "./speaker.ts";

const SEEDS = Array.from({ length: 40 }, (_, seed) => seed);
const SETS: readonly EndpointSet[] = ["a", "b"];

/** What says that an operation was found, where it cannot simply succeed. */
const REACHED: { readonly [operation in OperationName]?: readonly number[] } = {
  "auth.refresh": [401],
  "jobs.submit": [403],
  "posts.delete": [403],
};

describe("an accent", () => {
  test("is the same for the same seed, and another for another", () => {
    for (const seed of SEEDS.slice(0, 10)) expect(accent(seed).documented).toEqual(accent(seed).documented);
    expect(new Set(SEEDS.map((seed) => JSON.stringify(accent(seed).voice))).size).toBe(SEEDS.length);
  });

  test("is written from nothing that a reader knows", () => {
    const folder = new URL("./wire/", import.meta.url);
    const files = readdirSync(folder).filter((name) => name.endsWith(".ts"));
    expect(files.length).toBeGreaterThan(5);
    for (const file of files) {
      const imports = [...readFileSync(new URL(file, folder), "utf8").matchAll(/from "([^"]+)"/g)].map((match) => match[1] ?? "");
      expect(imports.filter((from) => /contract\/(?!operations)|client|config|doctor|runtime/.test(from))).toEqual([]);
    }
  });

  test.each(SETS)("of set %s answers every operation at the address its documentation gives, and at no other", async (set) => {
    for (const seed of SEEDS) {
      const speaker = speaking(seed, set);
      const { documented } = accent(seed);
      for (const name of OPERATION_NAMES) {
        const spoken = documented[set][name];
        if (spoken === undefined || name === "agents.delete") continue;
        const heard = await ask(speaker, spoken, { target: speaker.targets[OPERATIONS[name].target ?? ""], inputs: speaker.inputs(name) });
        expect(heard.status, `${seed} ${set} ${name} ${spoken.method} ${spoken.path}: ${heard.text}`).toBeOneOf(
          REACHED[name] ?? [200, 201, 204],
        );
      }
      const nowhere = await ask(speaker, { method: "GET", path: "/v1/nothing-here", inputs: {} }, {});
      expect(nowhere.status).toBe(404);
    }
  });

  test.each(SETS)("of set %s pages through a whole list, once and in order", async (set) => {
    for (const seed of SEEDS) {
      const speaker = speaking(seed, set);
      for (let i = 0; i < 7; i++) speaker.write(`post number ${i}`);
      expect(await speaker.texts(3), `seed ${seed}`).toEqual(
        Array.from({ length: 8 }, (_, i) => `post number ${6 - i}`).map((text, i) => (i === 7 ? "a first post" : text)),
      );
    }
  });
});

describe("ids", () => {
  test.each(ID_STYLES)("as %s go back to what they stand for, and nothing else does", (style) => {
    for (const salt of [0, 7, 123_456_789]) {
      const ids = idsIn(style, salt);
      const seen = new Set<string>();
      for (let n = 1; n <= 500; n++) {
        const said = ids.inPath(`post_${n}`);
        expect(ids.hear("post", said)).toBe(`post_${n}`);
        expect(exact(JSON.stringify(ids.say(`post_${n}`))).replaceAll('"', "")).toBe(said);
        seen.add(said);
      }
      expect(seen.size).toBe(500);
      for (const nothing of ["", "0", "post_1x", "zzzz", "-1", "1e3", "9".repeat(30)]) expect(ids.hear("post", nothing)).toBe("nothing_0");
    }
  });

  test("too large for a double come as the digits they are", () => {
    const said: Json = idsIn("snowflake", 5).say("post_12");
    expect(exact(JSON.stringify({ id: said }))).toMatch(/^\{"id":\d{19}\}$/);
  });
});
