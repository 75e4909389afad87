/** A port that cannot be opened: taken ports are tried again, everything else is a person's to change. */
import { expect, test } from "vitest";
import { Misconfigured, Retryable } from "../../src/core/errors.ts";
import { cannotListen } from "../../src/core/port-errors.ts";

const errno = (code: string): Error => Object.assign(new Error(`listen ${code}: 127.0.0.1:80`), { code });
const listener = { what: "the console cannot listen", hint: "give another port", otherHint: "give another address" };

test("a port that another process has is tried again", () => {
  const cause = errno("EADDRINUSE");
  const error = cannotListen(cause, listener);
  expect(error).toBeInstanceOf(Retryable);
  expect(error).toMatchObject({
    code: "port_in_use",
    message: "the console cannot listen: listen EADDRINUSE: 127.0.0.1:80",
    cause,
    details: { hint: "give another port" },
  });
});

test.each<[string, unknown]>([
  ["a port without permission", errno("EACCES")],
  ["an address of another machine", errno("EADDRNOTAVAIL")],
  ["a text thrown in place of an error", "EADDRINUSE"],
])("%s has to be changed, with the advice on the address", (_what, cause) => {
  const error = cannotListen(cause, listener);
  expect(error).toBeInstanceOf(Misconfigured);
  expect(error).toMatchObject({ code: "cannot_listen", details: { hint: "give another address" } });
});

test("one piece of advice serves both where there is no other", () => {
  const { what, hint } = listener;
  expect(cannotListen(errno("EACCES"), { what, hint }).details.hint).toBe("give another port");
});
