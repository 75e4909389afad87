/** Lists read back to a time, page by page, in as many passes as the quota needs. A gateway by hand. */
import { describe, expect, test } from "vitest";
import type { Post } from "../../src/contract/records.ts";
import { HOUR } from "../../src/core/units.ts";
import type { GatewayAnswer } from "../../src/gateway/gateway-answer.ts";
import { dropListReadings, readBackTo } from "../../src/outbox/read-back-list.ts";
import { memberOf, postOf } from "../harness/builders.ts";
import { harness } from "../harness/harness.ts";

const SENT = Date.UTC(2026, 10, 21);
/** Posts of one page, newest first, each an hour older than the one before. */
const page = (first: number, count: number): Post[] =>
  Array.from({ length: count }, (_, i) => postOf(`p${first + i}`, { createdAtMs: SENT + HOUR - (first + i) * HOUR }));

async function reader(
  answers: (GatewayAnswer | { readonly items: readonly Post[]; readonly more?: boolean; readonly skipped?: number })[],
) {
  const { clock, runtime } = await harness({ specialists: [{ handle: "scout" }], start: false });
  const asked: unknown[] = [];
  const parts = {
    ...runtime.parts,
    gateway: {
      ...runtime.parts.gateway,
      async read(_: unknown, { input }: { readonly input: object }): Promise<GatewayAnswer> {
        asked.push(input);
        const next = answers.shift();
        if (next === undefined) throw new Error("expected no further read");
        if ("kind" in next) return next;
        const { items, more = false, skipped = 0 } = next;
        const cursor = more ? { next: { kind: "cursor", cursor: `after ${asked.length}` } as const } : {};
        return { kind: "answered", outcome: { class: "confirmed", status: 200, body: undefined, items, skipped, ...cursor } };
      },
    },
  };
  const member = memberOf();
  const read = (since = clock.monotonic(), ageMs = 0) => readBackTo(parts, member, "posts.list", { sentAt: () => SENT, since, ageMs });
  return { clock, asked, parts, member, read };
}

test("pages are read until one is older than the sending, and the reading is complete", async () => {
  const { read, asked } = await reader([
    { items: page(0, 1), more: true },
    { items: page(1, 2), more: true },
  ]);
  const found = await read();
  expect(found).toMatchObject({ kind: "read", complete: true });
  expect(found?.kind === "read" && found.records).toHaveLength(3);
  expect(asked).toEqual([{ limit: 100 }, { limit: 100, cursor: "after 1" }]);
});

describe("a reading is incomplete", () => {
  test("if an item of it could not be read: that one may be the sought one", async () => {
    expect(await (await reader([{ items: page(0, 5), skipped: 1 }])).read()).toMatchObject({ complete: false });
  });

  test("if the list goes on for more pages than are read", async () => {
    const { read, asked } = await reader(
      Array.from({ length: 60 }, (_, i) => ({ items: [postOf(`p${i}`, { createdAtMs: SENT + HOUR })], more: true })),
    );
    expect(await read()).toMatchObject({ complete: false, isTooLong: false });
    expect(asked).toHaveLength(5);
  });

  test("which are more for an older action, up to fifty: then the list is too long", async () => {
    const { read, asked, clock } = await reader(
      Array.from({ length: 60 }, (_, i) => ({ items: [postOf(`p${i}`, { createdAtMs: SENT + HOUR })], more: true })),
    );
    const since = clock.monotonic();
    expect(await read(since, 3 * HOUR)).toMatchObject({ complete: false, isTooLong: false });
    expect(asked).toHaveLength(20);
    expect(await read(since, 30 * HOUR)).toMatchObject({ complete: false, isTooLong: true });
    expect(asked).toHaveLength(50);
  });

  test("and not because its pages are not sorted by time: then it is read to its end", async () => {
    const mixed = page(0, 5).toReversed();
    expect(await (await reader([{ items: mixed, more: true }, { items: mixed }])).read()).toMatchObject({ complete: true });
  });
});

test("a reading without room for the rest goes on from its page, and is begun again for what is sought later or after three hours", async () => {
  const wait: GatewayAnswer = { kind: "waits", until: 9, rule: "quota_lane", message: "full", lane: "obligation" };
  const { read, asked, clock } = await reader([{ items: page(0, 1), more: true }, wait, wait, wait, wait]);
  const since = clock.monotonic();
  expect(await read(since)).toEqual({ kind: "no-room", until: 9 });
  expect(await read(since)).toEqual({ kind: "no-room", until: 9 });
  expect(asked.slice(1)).toEqual([
    { limit: 100, cursor: "after 1" },
    { limit: 100, cursor: "after 1" },
  ]);
  await read(since + 1);
  expect(asked.at(-1)).toEqual({ limit: 100 });
  await clock.advance(3 * HOUR + 1);
  await read(since);
  expect(asked.at(-1)).toEqual({ limit: 100 });
});

test("a reading is shared by all that seek something sent before it began, and kept only while somebody waits", async () => {
  const { read, asked, parts, member, clock } = await reader([{ items: page(0, 5) }]);
  const since = clock.monotonic();
  await read(since);
  expect(await read(since)).toMatchObject({ complete: true });
  expect(asked).toHaveLength(1);
  dropListReadings(parts, member, true);
  expect(parts.outbox.readings.find(member)?.size).toBe(1);
  dropListReadings(parts, member, false);
  expect(parts.outbox.readings.find(member)).toBeUndefined();
});

test("a page that cannot be read gives no reading", async () => {
  expect(await (await reader([{ kind: "gone" }])).read()).toBeUndefined();
});
