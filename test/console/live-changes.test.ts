/** Changes reach open pages: numbered, merged, resumed, and bounded for pages that do not read. */
import { expect, test } from "vitest";
import { createAnnouncer } from "../../src/core/events.ts";
import { parseJson } from "../../src/core/json.ts";
import { MINUTE, SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { LiveChanges, MAX_BEHIND_BYTES, MAX_STREAMS } from "../../src/console/live-changes.ts";

interface Event {
  readonly id: number;
  readonly data: unknown;
}

function changes() {
  const clock = virtualClock(1_000_000);
  const announcer = createAnnouncer();
  let needs = 0;
  let dirty = 0;
  const errors: unknown[] = [];
  const live = new LiveChanges({
    clock,
    announcer,
    needs: async () => needs,
    onChange: () => void dirty++,
    onError: (error) => void errors.push(error),
  });
  const page = (lastId?: number, behind: { bytes: number; may: boolean } = { bytes: 0, may: true }) => {
    const said: string[] = [];
    let ended = false;
    const stop = live.open(
      {
        write: (text) => {
          said.push(text);
          return behind.bytes;
        },
        end: () => {
          ended = true;
          stop();
        },
        mayRead: async () => behind.may,
      },
      lastId,
    );
    const events = (): readonly Event[] =>
      said.flatMap((text) => {
        const found = /^id: (\d+)\nevent: change\ndata: (.*)\n\n$/.exec(text);
        return found === null ? [] : [{ id: Number(found[1]), data: parseJson(found[2] ?? "") }];
      });
    return { events, said, stop, ended: () => ended };
  };
  const happens = (handle: string): void => void announcer.emit("job", { at: clock.now(), handle, job: "j", state: "paid" });
  return { clock, live, page, happens, errors, dirty: () => dirty, needs: (now: number) => (needs = now) };
}

test("a page that opens is told to read everything, then the specialists that change", async () => {
  const { clock, page, happens, needs } = changes();
  needs(2);
  const { events } = page();
  await clock.advance(0);
  happens("scout");
  await clock.advance(SECOND);
  expect(events().map(({ data }) => data)).toEqual([
    { at: 1_000_000, needs: 2, handles: [], all: true },
    { at: 1_000_000, needs: 2, handles: ["scout"] },
  ]);
});

test("a burst is merged to four events a second, and nothing of it is lost", async () => {
  const { clock, page, happens, dirty } = changes();
  const { events } = page();
  await clock.advance(0);
  for (let i = 0; i < 1_000; i++) {
    happens(`s${i % 40}`);
    await clock.advance(10);
  }
  await clock.advance(SECOND);
  expect(events().length).toBeLessThanOrEqual(43);
  expect(events().length).toBeGreaterThanOrEqual(39);
  expect(dirty()).toBe(1_000);
  expect(new Set(JSON.stringify(events()).match(/s\d+/g)).size).toBe(40);
});

test("a page that comes back is told what it missed, by the number of its last event", async () => {
  const { clock, page, happens } = changes();
  const other = page();
  const first = page();
  await clock.advance(0);
  const last = first.events().at(-1)?.id ?? 0;
  first.stop();
  for (const handle of ["scout", "quill"]) {
    happens(handle);
    await clock.advance(SECOND);
  }
  const again = page(last);
  await clock.advance(0);
  expect(again.events()).toMatchObject([{ data: { handles: ["scout", "quill"] } }]);
  expect(again.events()[0]?.id).toBe(other.events().at(-1)?.id);
  const nothingMissed = page(again.events()[0]?.id);
  await clock.advance(0);
  expect(nothingMissed.events()).toMatchObject([{ data: { handles: [] } }]);
  expect(nothingMissed.events()[0]?.data).not.toHaveProperty("all");
});

test("a page of an earlier process, or of too long ago, reads everything", async () => {
  const { clock, page, happens } = changes();
  page();
  for (let i = 0; i < 400; i++) {
    happens("scout");
    await clock.advance(SECOND);
  }
  const of = [5, 1_000_001, 9e15].map((lastId) => page(lastId));
  await clock.advance(0);
  for (const { events } of of) expect(events()[0]?.data).toMatchObject({ all: true });
});

test("many specialists at once are one event that names none", async () => {
  const { clock, page, happens } = changes();
  const { events } = page();
  await clock.advance(0);
  for (let i = 0; i < 500; i++) happens(`s${i}`);
  await clock.advance(SECOND);
  expect(events().at(-1)?.data).toMatchObject({ handles: [], all: true });
});

test("a page that does not read is ended, and the others go on", async () => {
  const { clock, page, happens, live } = changes();
  const behind = { bytes: 0, may: true };
  const [slow, other] = [page(undefined, behind), page()];
  await clock.advance(0);
  behind.bytes = MAX_BEHIND_BYTES + 1;
  happens("scout");
  await clock.advance(SECOND);
  expect([slow.ended(), other.ended(), live.count]).toEqual([true, false, 1]);
});

test("a page whose session is over is ended with the next heartbeat", async () => {
  const { clock, page } = changes();
  const behind = { bytes: 0, may: true };
  const opened = page(undefined, behind);
  await clock.advance(11 * SECOND);
  expect([opened.said.at(-1), opened.ended()]).toEqual([": live\n\n", false]);
  behind.may = false;
  await clock.advance(11 * SECOND);
  expect(opened.ended()).toBe(true);
});

test("a number that time alone changes reaches the pages", async () => {
  const { clock, page, needs } = changes();
  const { events } = page();
  await clock.advance(0);
  needs(3);
  await clock.advance(11 * SECOND);
  expect(events().at(-1)?.data).toMatchObject({ needs: 3 });
});

test("more pages than it serves are told so, and a place that becomes free is given again", () => {
  const { page } = changes();
  const opened = Array.from({ length: MAX_STREAMS }, () => page());
  expect(() => page()).toThrow(expect.objectContaining({ code: "streams_full" }));
  opened[0]?.stop();
  expect(() => page()).not.toThrow();
});

test("while no page is open nothing is listened to, and the first one reads everything", async () => {
  const { clock, page, happens, dirty } = changes();
  happens("scout");
  expect(dirty()).toBe(0);
  const first = page();
  await clock.advance(0);
  const last = first.events().at(-1)?.id;
  first.stop();
  await clock.advance(2 * MINUTE);
  happens("scout");
  expect(dirty()).toBe(0);
  const again = page(last);
  await clock.advance(0);
  expect(again.events()[0]?.data).toMatchObject({ all: true });
});

test("the end of the console ends its pages", async () => {
  const { page, live } = changes();
  const opened = page();
  live.close();
  expect([opened.ended(), live.count]).toEqual([true, 0]);
});

test("a page whose check takes long holds up no other, and is checked once at a time", async () => {
  const { clock, live, page } = changes();
  const { said } = page();
  let asked = 0;
  live.open(
    {
      write: () => 0,
      end: () => undefined,
      mayRead() {
        asked++;
        return new Promise<boolean>(() => undefined);
      },
    },
    undefined,
  );
  await clock.advance(MINUTE);
  expect(said.filter((text) => text === ": live\n\n")).toHaveLength(6);
  expect(asked).toBe(1);
});

test("a number that takes long to be read holds up no heartbeat", async () => {
  const clock = virtualClock(1_000_000);
  const said: string[] = [];
  const live = new LiveChanges({
    clock,
    announcer: createAnnouncer(),
    needs: () => new Promise<number>(() => undefined),
    onChange: () => undefined,
    onError: () => undefined,
  });
  live.open({ write: (text) => said.push(text) && 0, end: () => undefined, mayRead: async () => true }, undefined);
  await clock.advance(25 * SECOND);
  expect(said).toEqual([": live\n\n", ": live\n\n"]);
});

test("nothing is read after the end, and nobody gets a place", async () => {
  const clock = virtualClock(1_000_000);
  let reads = 0;
  const announcer = createAnnouncer();
  const live = new LiveChanges({ clock, announcer, needs: async () => ++reads, onChange: () => undefined, onError: () => undefined });
  const reader = { write: () => 0, end: () => undefined, mayRead: async () => true };
  live.open(reader, undefined);
  await clock.advance(0);
  const before = reads;
  announcer.emit("job", { at: clock.now(), handle: "scout", job: "j", state: "paid" });
  live.close();
  await clock.advance(MINUTE);
  expect(reads).toBe(before);
  expect(() => live.open(reader, undefined)).toThrow("the console ends");
});

test("where other processes have specialists, which announce nothing here, pages read everything again with each heartbeat", async () => {
  const clock = virtualClock(1_000_000);
  let others = false;
  const live = new LiveChanges({
    clock,
    announcer: createAnnouncer(),
    needs: async () => 0,
    hasOthers: () => others,
    onChange: () => undefined,
    onError: () => undefined,
  });
  const said: string[] = [];
  live.open({ write: (text) => said.push(text), end: () => undefined, mayRead: async () => true }, undefined);
  const told = (): number => said.filter((text) => text.includes('"all":true')).length;
  await clock.advance(21 * SECOND);
  expect(told()).toBe(1); // as it opened
  others = true;
  await clock.advance(20 * SECOND);
  expect(told()).toBe(3);
  live.close();
});
