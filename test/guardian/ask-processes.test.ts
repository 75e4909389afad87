/** All processes are asked at once if they work: one that is silent costs the bound once, and is shown as silent. */
import { expect, test } from "vitest";
import { sleep } from "../../src/core/clock.ts";
import { Fatal, Retryable } from "../../src/core/errors.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { askProcesses, askQuestion } from "../../src/guardian/ask-processes.ts";
import { HELLO, HELLO_MS } from "../../src/runtime/hello.ts";
import type { FleetProcess } from "../../src/store/postgres/fleet-view.ts";
import { fleetProcess as process } from "../harness/fleet-process.ts";

test("one that answers says its clock, an older version does not, and one that is stopped is silent", async () => {
  const asked: number[] = [];
  const answers = ['{"result":{"message":"here","aheadOfServerMs":-4000}}', '{"result":{"message":"here"}}'];
  const ask = async ({ number, name }: FleetProcess, _body: string, timeoutMs: number): Promise<string> => {
    asked.push(timeoutMs);
    const answer = answers[number];
    if (answer === undefined) throw new Retryable("process_silent", `${name} has not answered`);
    return answer;
  };
  const heard = await askProcesses({ ask }, [0, 1, 2].map(process));
  expect([...heard.values()]).toEqual([{ answers: true, aheadOfServerMs: -4_000 }, { answers: true }, { answers: false }]);
  expect(asked).toEqual([HELLO_MS, HELLO_MS, HELLO_MS]);
});

test("an error of the server is no silence", async () => {
  const ask = () => Promise.reject(new Fatal("unexpected", "the session ended"));
  await expect(askProcesses({ ask }, [process(1)])).rejects.toMatchObject({ message: "the session ended" });
});

/** Processes that answer hellos at once, or never, and a question after a while. */
function asking({
  hellos,
  questionMs,
  isGone = false,
}: {
  readonly hellos: boolean;
  readonly questionMs: number;
  readonly isGone?: boolean;
}) {
  const clock = virtualClock();
  const asked: string[] = [];
  const ask = async ({ name }: FleetProcess, body: string, timeoutMs: number): Promise<string> => {
    asked.push(body);
    const takesMs = body === HELLO ? (hellos ? 0 : Infinity) : questionMs;
    await sleep(clock, Math.min(takesMs, timeoutMs));
    if (takesMs > timeoutMs) throw new Retryable("process_silent", `${name} has not answered`);
    return body === HELLO ? "{}" : "the answer";
  };
  const look = async () => ({ processes: isGone ? [] : [process(1)], free: [], serverNow: 0 });
  const from = clock.monotonic();
  const told = clock.run(askQuestion({ ask, look }, process(1), "status?", clock).finally(() => (tookMs = clock.monotonic() - from)));
  let tookMs = -1;
  return { told, asked, tookMs: () => tookMs };
}

test("a question that is answered soon is the only request", async () => {
  const { told, asked } = asking({ hellos: true, questionMs: 500 });
  expect(await told).toBe("the answer");
  expect(asked).toEqual(["status?"]);
});

test("a process that is stopped is given up by its silence to hellos, and one that has ended is said to be gone", async () => {
  const stopped = asking({ hellos: false, questionMs: Infinity });
  await expect(stopped.told).rejects.toMatchObject({ code: "process_silent", message: "web:1 does not answer" });
  expect(stopped.tookMs()).toBe(3 * HELLO_MS);
  const gone = asking({ hellos: false, questionMs: Infinity, isGone: true });
  await expect(gone.told).rejects.toMatchObject({ code: "nothing_found", message: "web:1 is gone" });
});

test("a process that is busy is waited for as long as it says hello, and in the end given up too", async () => {
  expect(await asking({ hellos: true, questionMs: 8_000 }).told).toBe("the answer");
  const busy = asking({ hellos: true, questionMs: 60_000 });
  await expect(busy.told).rejects.toMatchObject({ code: "process_silent", message: "web:1 has not answered within 10 s" });
  expect(busy.tookMs()).toBe(10_000);
});
