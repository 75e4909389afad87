/** All processes are asked at once if they work: one that is silent costs the bound once, and is shown as silent. */
import { expect, test } from "vitest";
import { Fatal, Retryable } from "../../src/core/errors.ts";
import { askProcesses } from "../../src/guardian/ask-processes.ts";
import { HELLO_MS } from "../../src/runtime/hello.ts";
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
