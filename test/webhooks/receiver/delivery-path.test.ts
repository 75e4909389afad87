/** A delivery finds its specialist by the end of its path, whatever a proxy left before it or took from it. */
import { describe, expect, it } from "vitest";
import { targetOf } from "../../../src/webhooks/receiver/delivery-path.ts";

const knows = (handle: string): boolean => ["scout", "ann bee", "webhooks"].includes(handle);
const route = (url: string): string | undefined => {
  const target = targetOf(url, knows);
  return target === undefined ? undefined : [target.specialist, target.token].filter((part) => part !== undefined).join(" ");
};

describe("a path leads to a specialist", () => {
  it.each([
    ["/webhooks/scout", "scout"],
    ["/some/prefix/webhooks/scout", "scout"],
    ["/some/prefix/webhooks/scout/secret", "scout secret"],
    ["/webhooks/webhooks/scout", "scout"],
    ["//webhooks//scout/", "scout"],
    ["/webhooks/scout?attempt=2", "scout"],
    ["http://bots.example.com/p/webhooks/scout", "scout"],
    ["/webhooks/ann%20bee/a%2Fb", "ann bee a/b"],
    // The proxy took the prefix with it.
    ["/scout", "scout"],
    ["/scout/secret", "scout secret"],
    ["/hooks/of/bots/scout", "scout"],
    ["/hooks/scout/secret", "scout secret"],
    // A specialist that is called like the folder.
    ["/webhooks", "webhooks"],
    ["/webhooks/webhooks", "webhooks"],
  ])("%s", (url, expected) => expect(route(url)).toBe(expected));

  it("and an unknown one behind /webhooks/ to nobody, who is refused by name", () => {
    expect(route("/p/webhooks/nobody")).toBe("nobody");
  });
});

describe("a path leads nowhere", () => {
  it.each(["/", "", "*", "/nobody", "/scout/a/b", "/webhooks/scout/a/b", "/webhooks/%zz", `/scout/${"a".repeat(301)}`, "example.com:443"])(
    "%s",
    (url) => expect(route(url)).toBeUndefined(),
  );
});
