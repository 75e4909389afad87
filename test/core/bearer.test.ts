/** A bearer token is taken whole, or not at all. */
import { expect, test } from "vitest";
import { bearsToken } from "../../src/core/bearer.ts";
import { Secret } from "../../src/core/secret.ts";

test.each([
  ["Bearer right-token", true],
  ["bearer right-token", true],
  ["Bearer right-toke", false],
  ["Bearer right-token2", false],
  ["right-token", false],
  ["Bearer ", false],
  [undefined, false],
])("%j: %s", (header, is) => expect(bearsToken(header, new Secret("right-token"))).toBe(is));
