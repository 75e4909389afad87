/** Loopback is this machine alone, by whichever of its names. */
import { expect, test } from "vitest";
import { isLoopback } from "../../src/config/loopback.ts";

test("loopback is 127.0.0.0/8, ::1 and localhost, and nothing that only begins like it", () => {
  expect(["127.0.0.1", "127.9.8.7", "::1", "localhost"].filter((host) => !isLoopback(host))).toEqual([]);
  expect(["127.0.0.1.example.com", "localhost.example.com", "10.0.0.1", "::", ""].filter(isLoopback)).toEqual([]);
});
