/** A specialist whose past is still being read begins once, when it is here. */
import { describe, expect, test } from "vitest";
import type { Member } from "../../src/gateway/member.ts";
import { createWork, whenHere } from "../../src/runtime/work.ts";

function lab() {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stopping = new AbortController();
  const work = createWork({} as Member);
  const seen: string[] = [];
  const how = {
    stopping: stopping.signal,
    begin: () => void seen.push("begun"),
    failed: (error: unknown) => void seen.push(`failed: ${String(error)}`),
  };
  return { work, past: promise, resolve, reject, stopping, seen, wait: () => whenHere(work, promise, how) };
}

describe("a past that is still being read", () => {
  test("is awaited once, whoever asks meanwhile", async () => {
    const { past, resolve, seen, wait } = lab();
    wait();
    wait();
    expect(seen).toEqual([]);
    resolve();
    await past;
    expect(seen).toEqual(["begun"]);
  });

  test("that cannot be read is reported, and can be awaited again", async () => {
    const { work, past, reject, seen, wait } = lab();
    wait();
    reject("no room");
    await past.catch(() => undefined);
    await Promise.resolve();
    expect(seen).toEqual(["failed: no room"]);
    expect(work.awaitsPast).toBe(false);
  });

  test("comes in vain to a runtime that stops", async () => {
    const { past, resolve, stopping, seen, wait } = lab();
    wait();
    stopping.abort();
    resolve();
    await past;
    expect(seen).toEqual([]);
  });
});
