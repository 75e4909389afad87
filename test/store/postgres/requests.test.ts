/** The looks for requests whose notice was lost: by whoever asks the server each second anyway, else by statements of their own. */
import { expect, onTestFinished, test } from "vitest";
import { SECOND } from "../../../src/core/units.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { Requests } from "../../../src/store/postgres/requests.ts";

/** The requests to one process, and the statements that it sends. */
function lab() {
  const clock = virtualClock();
  const sent: string[] = [];
  const waiting: { readonly number: number; readonly body: string; readonly left_ms: number }[] = [];
  const answered: string[] = [];
  const requests = new Requests({
    query: (text) => {
      sent.push(text.trimStart().slice(0, 6));
      return Promise.resolve(text.startsWith("UPDATE") ? waiting.splice(0) : []);
    },
    channel: "retinue",
    number: 7,
    clock,
    answer: (body) => {
      answered.push(body);
      return Promise.resolve(undefined);
    },
  });
  onTestFinished(() => requests.close());
  return { clock, requests, sent, waiting, answered };
}

test("a process that sees each second that nobody asks it sends no statement for that", async () => {
  const { clock, requests, sent } = lab();
  for (let n = 0; n < 60; n++) {
    await clock.advance(SECOND);
    requests.waits(false);
  }
  expect(sent).toEqual(["DELETE"]); // of old ones
});

test("a request whose notice was lost is taken as soon as it is seen, and within three seconds where nobody looks", async () => {
  const { clock, requests, sent, waiting, answered } = lab();
  waiting.push({ number: 1, body: "halt", left_ms: 5_000 });
  requests.waits(true);
  await clock.advance(0);
  expect(answered).toEqual(["halt"]);
  waiting.push({ number: 2, body: "lift", left_ms: 5_000 });
  await clock.advance(3 * SECOND);
  expect(answered).toEqual(["halt", "lift"]);
  expect(sent.filter((what) => what === "UPDATE")).toHaveLength(2);
});
