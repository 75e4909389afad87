/** A page answers to its own address alone. */
import { expect, test } from "vitest";
import { isOwnHost, isOwnOrigin, pageHeaders } from "../../src/core/page-origin.ts";

const OWN = new URL("https://console.example.com");

test.each([
  ["127.0.0.1:8070", true],
  ["localhost", true],
  ["[::1]:8070", true],
  ["10.2.3.4", true],
  ["console.example.com", true],
  ["CONSOLE.example.com:443", true],
  ["evil.example", false],
  ["127.0.0.1.evil.example", false],
  ["user@127.0.0.1", false],
  ["127.0.0.1/x", false],
  ["", false],
  [undefined, false],
])("the host %j: %s", (host, is) => expect(isOwnHost(host, OWN)).toBe(is));

test.each([
  [undefined, true],
  ["http://127.0.0.1:8070", true],
  ["https://console.example.com", true],
  ["https://127.0.0.1:8070", false],
  ["http://127.0.0.1:8071", false],
  ["https://evil.example", false],
  ["null", false],
])("the origin %j: %s", (origin, is) => expect(isOwnOrigin({ origin, host: "127.0.0.1:8070" }, "http", OWN)).toBe(is));

test("nothing is loaded, framed or run but what the page states", () => {
  expect(pageHeaders("style-src 'self'")["content-security-policy"]).toBe(
    "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  );
});
