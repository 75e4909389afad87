/** The address of a view is read back as it was written, and an unknown one is the first view. */
import { expect, test } from "vitest";
import { addressOf, placeOf, searchOf, type Place } from "../../../src/console/page/place.ts";

const PLACES: readonly Place[] = [
  { view: "needs", query: {} },
  { view: "needs", query: { kind: "approval" } },
  { view: "specialists", subject: "scout", query: { tab: "use", before: "12" } },
  { view: "log", query: { search: "a & b = c #1?", handle: "scout" } },
  { view: "why", subject: "post.created:scout/é?&#", query: {} },
];

test.each(PLACES)("%j is read back from its address", (place) => expect(placeOf(addressOf(place))).toEqual(place));

test.each(["", "#", "#/", "#/nothing/at/all", "#needs", "#/%E0%A4"])("%j is a view that exists", (hash) =>
  expect(placeOf(hash)).toEqual({ view: "needs", query: {} }),
);

test("an address cut within an escape is still read", () => expect(placeOf("#/why/100%").subject).toBe("100%"));

test("empty filters are left out", () => expect(searchOf({ a: "", b: undefined, c: 0, d: "x y" })).toBe("?c=0&d=x+y"));

test("an id of others with half a character has an address as well", () =>
  expect(placeOf(addressOf({ view: "why", subject: "post \uD800" })).subject).toBe("post \uFFFD"));
