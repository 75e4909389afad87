/** The specialists that a process of a fleet shows while its shards come and go. */
import { expect, test } from "vitest";
import { showParts } from "../../src/cli/fleet-session.ts";
import { Retryable } from "../../src/core/errors.ts";
import type { SpecialistShown } from "../../src/guardian/status.ts";

const shown = (handle: string): SpecialistShown => ({ handle }) as SpecialistShown;
const CLOSED = new Retryable("read_failed", "the store was closed");

test("a part that goes to another process while it is read is left out", async () => {
  const parts = new Set(["b", "a", "leaving"]);
  const show = async (part: string): Promise<readonly SpecialistShown[]> => {
    if (part !== "leaving") return [shown(part)];
    parts.delete(part);
    throw CLOSED;
  };
  expect(await showParts(() => [...parts], show)).toEqual([shown("a"), shown("b")]);
});

test("a part that stays and cannot be read is an error", async () => {
  await expect(
    showParts(
      () => ["a"],
      () => Promise.reject(CLOSED),
    ),
  ).rejects.toBe(CLOSED);
});
