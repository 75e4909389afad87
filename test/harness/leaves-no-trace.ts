/** Test files that share a process leave it as they found it: its variables, and the names of its global object. */
import assert from "node:assert/strict";
import { afterAll, beforeAll } from "vitest";

interface Found {
  readonly variables: NodeJS.ProcessEnv;
  readonly globals: readonly PropertyKey[];
}

/** The program sets them once, and keeps them. */
const SET_BY_THE_PROGRAM: ReadonlySet<PropertyKey> = new Set(["AI_SDK_LOG_WARNINGS"]);

const look = (): Found => ({
  variables: { ...process.env },
  globals: Reflect.ownKeys(globalThis).filter((name) => !SET_BY_THE_PROGRAM.has(name)),
});

let found: Found;
beforeAll(() => void (found = look()));
afterAll(() => assert.deepEqual(look(), found));
