/** The version segment is in every address exactly once. */
import { expect, test } from "vitest";
import { endpointUrl } from "../../src/contract/base-address.ts";
import { ENDPOINT_ROWS } from "../../src/contract/operations.ts";
import { Misconfigured } from "../../src/core/errors.ts";

const HOSTS = ["http://localhost:8080", "https://api.example.com", "https://example.com/agents/api"];
const TAILS = ["", "/", "//", "/v1", "/v1/", "/v1//", "/v1/v1", "//v1"];

test.each(HOSTS)("every row of both sets has /v1 once under %s, whatever the base ends in", (host) => {
  for (const tail of TAILS)
    for (const { path } of ENDPOINT_ROWS) {
      const url = new URL(endpointUrl(host + tail, path));
      expect(url.href).toBe(host + path);
      expect(url.pathname.match(/\/v1(?=\/)/g)).toHaveLength(1);
    }
});

test("a base path is kept for paths without a version", () => {
  expect(endpointUrl("https://x.example/api/v1/", "/posts")).toBe("https://x.example/api/v1/posts");
  expect(endpointUrl("https://x.example/api/v2", "/v1/posts")).toBe("https://x.example/api/v2/v1/posts");
});

test.each([
  ["nonsense", "not a URL"],
  ["", "not a URL"],
  ["ftp://x.example", "neither http nor https"],
  ["javascript:alert(1)", "neither http nor https"],
  ["https://user:hunter22@x.example", "credentials"],
  ["https://x.example/v1?key=hunter22", "query"],
  ["https://x.example/v1?", "query"],
  ["https://x.example/v1#part", "fragment"],
  [`https://x.example/${"a".repeat(3_000)}`, "longer"],
])("%s is refused without being repeated", (baseUrl, problem) => {
  const attempt = (): string => endpointUrl(baseUrl, "/v1/posts");
  expect(attempt).toThrow(Misconfigured);
  expect(attempt).toThrow(problem);
  expect(attempt).not.toThrow("hunter22");
});
