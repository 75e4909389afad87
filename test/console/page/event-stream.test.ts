/** Server-sent events are read whole, however their bytes are cut. */
import { expect, test } from "vitest";
import { createStreamReader } from "../../../src/console/page/event-stream.ts";

const STREAM = ': hello\n\nid: 7\nevent: change\ndata: {"at":1}\n\n: still here\n\ndata: one\ndata: two\n\r\n';

test("events are the same in pieces of any length", () => {
  const whole = [
    { id: "7", name: "change", data: '{"at":1}' },
    { id: undefined, name: "message", data: "one\ntwo" },
  ];
  for (const length of [1, 2, 3, 7, STREAM.length]) {
    const read = createStreamReader();
    const pieces = Array.from({ length: Math.ceil(STREAM.length / length) }, (_, i) => STREAM.slice(i * length, (i + 1) * length));
    expect(pieces.flatMap((piece) => read(piece))).toEqual(whole);
  }
});

test("an event without an end is not kept for ever", () => {
  const read = createStreamReader();
  expect(() => {
    for (let i = 0; i < 20; i++) read("x".repeat(100_000));
  }).toThrow("does not end");
});
