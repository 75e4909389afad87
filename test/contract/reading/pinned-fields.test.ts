/** Pins: places survive a restart through a row, malformed rows are passed over, and a person's look clears them. */
import { expect, test } from "vitest";
import { shippedProfile } from "../../../src/contract/profile/profile.ts";
import { clearPins, createPins, pinsAsData, restorePins, settledPins, type Pins } from "../../../src/contract/reading/pinned-fields.ts";
import { readRecord } from "../../../src/contract/reading/read-answer.ts";
import type { JsonObject } from "../../../src/core/json.ts";

const POST = { post: { id: "p1", content: "x", liked_by: [{ id: "a1" }], replies: [{ id: "r1", text: "y" }], extra: 1 } };

function pinned(): Pins {
  const pins = createPins();
  readRecord(shippedProfile("b"), "post", POST, pins);
  return pins;
}

const through = (data: JsonObject): Pins => {
  const pins = createPins();
  restorePins(pins, JSON.parse(JSON.stringify(data)) as JsonObject);
  return pins;
};

test("places, types and the members of references survive a restart; counts and known keys begin again", () => {
  const pins = pinned();
  const restored = through(pinsAsData(pins));
  expect(pinsAsData(restored)).toEqual(pinsAsData(pins));
  expect(settledPins(restored)).toBe(settledPins(pins));
  expect([restored.fields.get("likedBy")?.by, restored.place, restored.nested?.fields.get("content")?.path]).toEqual([
    "id",
    "post",
    "text",
  ]);
  expect([restored.fields.get("id")?.seen, restored.known.size]).toEqual([0, 0]);
});

test("each new place is counted once", () => {
  const pins = pinned();
  const before = settledPins(pins);
  readRecord(shippedProfile("b"), "post", POST, pins);
  expect(settledPins(pins)).toBe(before);
  readRecord(shippedProfile("b"), "post", { post: { ...POST.post, author_id: "a1" } }, pins);
  expect(settledPins(pins)).toBe(before + 1);
});

test("malformed parts of a row are left out, and the rest is restored", () => {
  const pins = through({
    place: 7,
    fields: { id: { path: "id", type: "string", by: 5 }, content: { path: "text" }, author: "x", none: null },
    nested: "none",
  });
  expect(pinsAsData(pins)).toEqual({ fields: { id: { path: "id", type: "string" } } });
  expect(pinsAsData(through({ fields: ["id"] }))).toEqual({ fields: {} });
});

test("cleared pins are as new: the next answer pins new places", () => {
  const pins = pinned();
  clearPins(pins);
  expect(pins).toEqual(createPins());
  const { drift } = readRecord(shippedProfile("b"), "post", { uuid: "p2", text: "x" }, pins);
  expect([drift, pins.fields.get("id")?.path]).toEqual([[], "uuid"]);
});
