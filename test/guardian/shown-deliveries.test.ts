/** Kept deliveries for people: page by page, by specialist and kind, and the bytes of one as text. */
import { expect, test } from "vitest";
import { asHandle } from "../../src/core/ids.ts";
import { readDeliveries, readDelivery } from "../../src/guardian/shown-deliveries.ts";
import { desk, SCOUT, type Desk } from "../harness/guardian-over-store.ts";

async function kept(
  { clock, store, on }: Desk,
  id: string,
  kind: string,
  body: Uint8Array = Buffer.from(id),
  specialist = SCOUT,
): Promise<void> {
  const delivery = { specialist, id, kind, scheme: "header", body };
  const plain = { state: "unhandled", kind, events: [], nudges: [] } as const;
  await on(store.putDelivery({ delivery, plain, onStored: () => undefined }, clock.now()));
}

test("deliveries come newest first, a page at a time, and by what is asked for", async () => {
  const here = desk();
  const { store, on } = here;
  for (let i = 0; i < 5; i++) await kept(here, `d${i}`, i % 2 === 0 ? "even" : "odd");
  await kept(here, "other", "even", Buffer.from("x"), asHandle("quill"));
  const ids = async (query: object): Promise<readonly string[]> =>
    (await on(readDeliveries(store, { limit: 10, ...query }))).entries.map(({ id }) => id);
  const first = await on(readDeliveries(store, { limit: 2, handle: "scout" }));
  expect(first.entries.map(({ id }) => id)).toEqual(["d4", "d3"]);
  expect(await ids({ handle: "scout", before: first.next })).toEqual(["d2", "d1", "d0"]);
  expect(await ids({ kind: "even" })).toEqual(["other", "d4", "d2", "d0"]);
  expect(await ids({ handle: "nobody" })).toEqual([]);
});

test("a body is shown as text, with what is no UTF-8 replaced", async () => {
  const here = desk();
  await kept(here, "d1", "odd", Buffer.from([0x68, 0x69, 0xff]));
  const [entry] = (await here.on(readDeliveries(here.store, { limit: 1 }))).entries;
  expect(await here.on(readDelivery(here.store, entry?.seq ?? 0))).toMatchObject({ id: "d1", bytes: 3, body: "hi\ufffd" });
  expect(entry).not.toHaveProperty("body");
});

test("a delivery that is not kept is refused with where to look", async () => {
  const { store, on } = desk();
  await expect(on(readDelivery(store, 7))).rejects.toMatchObject({ code: "nothing_found", message: "no delivery 7 is stored" });
});
