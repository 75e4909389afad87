/** Trust as the network reports it: read now and then, and at once at a person's word. */
import { describe, expect, test } from "vitest";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import type { Agent } from "../../src/contract/records.ts";
import { HOUR, MINUTE } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { createTrustBreakers, TRUST_CHECK_MS } from "../../src/gateway/trust.ts";
import type { NetworkStateRow } from "../../src/store/network-state.ts";

const TIERS = resolveProfile({ extends: "set-b", trust: { newcomer: { lacks: ["posts.create"] }, member: {} } }).trust;
const account = (trust: string): Agent => ({ kind: "agent", id: "agt_1", handle: "ann", trust, raw: {} });

function setUp(tiers: typeof TIERS | undefined = TIERS) {
  const clock = virtualClock(1_000_000);
  const rows: NetworkStateRow[] = [];
  const keep = ({ put }: { readonly put: readonly NetworkStateRow[] }): void => void rows.splice(0, rows.length, ...put);
  return { clock, rows, trust: createTrustBreakers({ clock, tiers, keep }) };
}

test("an operation that the reported trust lacks is stopped until a report says otherwise", async () => {
  const { trust, clock } = setUp();
  expect(trust.stop("ann", "posts.create")).toBeUndefined();
  trust.heard("ann", account("newcomer"));
  expect(trust.stop("ann", "posts.create")).toMatchObject({ code: "not_in_trust", since: 1_000_000, probeAt: 1_000_000 + TRUST_CHECK_MS });
  expect([trust.stop("ann", "posts.reply"), trust.stop("ben", "posts.create")]).toEqual([undefined, undefined]);
  expect([trust.lacks("ann"), trust.lacks("ben")]).toEqual([["posts.create"], undefined]);
  await clock.advance(HOUR);
  trust.heard("ann", account("newcomer"));
  expect(trust.stops()).toMatchObject([{ since: 1_000_000 }]);
  trust.heard("ann", account("member"));
  expect([trust.stops(), trust.lacks("ann")]).toEqual([[], undefined]);
});

test("the last report is kept for people, with its reputation and the time of the next read", () => {
  const { trust } = setUp();
  expect(trust.report("ann")).toBeUndefined();
  trust.heard("ann", { ...account("newcomer"), reputation: 3 });
  expect(trust.report("ann")).toMatchObject({ trust: "newcomer", reputation: 3, since: 1_000_000, lookAt: 1_000_000 + TRUST_CHECK_MS });
});

describe("the account is read", () => {
  test("at first, and six hours after each report", async () => {
    const { trust, clock } = setUp();
    expect(trust.isDue("ann")).toBe(true);
    trust.heard("ann", account("newcomer"));
    await clock.advance(TRUST_CHECK_MS - 1);
    expect(trust.isDue("ann")).toBe(false);
    await clock.advance(1);
    expect(trust.isDue("ann")).toBe(true);
  });

  test("again later where a read failed or has to wait, and requests ask meanwhile every minute", async () => {
    const { trust, clock } = setUp();
    trust.heard("ann", account("newcomer"));
    await clock.advance(TRUST_CHECK_MS);
    trust.defer("ann", clock.now() + HOUR);
    expect(trust.isDue("ann")).toBe(false);
    expect(trust.stop("ann", "posts.create")?.probeAt).toBe(clock.now() + MINUTE);
    trust.defer("ann", clock.now() + 10_000);
    await clock.advance(10_000);
    expect(trust.isDue("ann")).toBe(true);
  });

  test("no sooner because of a deferral of something else", async () => {
    const { trust, clock } = setUp();
    trust.heard("ann", account("newcomer"));
    trust.defer("ann", clock.now() + HOUR);
    await clock.advance(HOUR);
    expect(trust.isDue("ann")).toBe(false);
  });

  test("at once at a person's word, about the specialist or the operation that it lacks", () => {
    const { trust } = setUp();
    trust.heard("ann", account("newcomer"));
    expect(trust.lookNow("posts.reply", undefined)).toEqual([]);
    expect(trust.isDue("ann")).toBe(false);
    expect(trust.lookNow("posts.create", undefined)).toHaveLength(1);
    expect(trust.isDue("ann")).toBe(true);
  });

  test("never where the profile has no trust tiers", () => {
    const { trust, rows } = setUp({});
    trust.heard("ann", account("newcomer"));
    expect([trust.isDue("ann"), trust.stops(), rows]).toEqual([false, [], []]);
  });
});

test("a report is known after a restart, with the time of the next read, and without the profile", () => {
  const { trust, rows, clock } = setUp();
  trust.heard("ann", account("newcomer"));
  for (const tiers of [TIERS, undefined]) {
    const again = createTrustBreakers({ clock, tiers, keep: () => undefined });
    again.restore(rows);
    expect([again.of("ann"), again.isDue("ann"), again.stops()]).toEqual([trust.of("ann"), false, trust.stops()]);
  }
});
