/** A delivery finds its specialist by the end of its path, whatever a proxy left before it or took from it. */
import { describe, expect, it } from "vitest";
import { NOWHERE, routeOf } from "../../../src/webhooks/receiver/delivery-path.ts";

const knows = (handle: string): boolean => ["scout", "ann bee", "webhooks"].includes(handle);
const route = (url: string): string => routeOf(url, knows);

describe("a path leads to a specialist", () => {
  it.each([
    ["/webhooks/scout", "/webhooks/scout"],
    ["/some/prefix/webhooks/scout", "/webhooks/scout"],
    ["/some/prefix/webhooks/scout/secret", "/webhooks/scout/secret"],
    ["/webhooks/webhooks/scout", "/webhooks/scout"],
    ["//webhooks//scout/", "/webhooks/scout"],
    ["/webhooks/scout?attempt=2", "/webhooks/scout"],
    ["http://bots.example.com/p/webhooks/scout", "/webhooks/scout"],
    ["/webhooks/ann%20bee/a%2Fb", "/webhooks/ann%20bee/a%2Fb"],
    // The proxy took the prefix with it.
    ["/scout", "/webhooks/scout"],
    ["/scout/secret", "/webhooks/scout/secret"],
    ["/hooks/of/bots/scout", "/webhooks/scout"],
    ["/hooks/scout/secret", "/webhooks/scout/secret"],
    // A specialist that is called like the folder.
    ["/webhooks", "/webhooks/webhooks"],
    ["/webhooks/webhooks", "/webhooks/webhooks"],
  ])("%s", (url, expected) => expect(route(url)).toBe(expected));

  it("and an unknown one behind /webhooks/ to nobody, who is refused by name", () => {
    expect(route("/p/webhooks/nobody")).toBe("/webhooks/nobody");
  });
});

describe("a path leads nowhere", () => {
  it.each(["/", "", "*", "/nobody", "/scout/a/b", "/webhooks/scout/a/b", "/webhooks/%zz", `/scout/${"a".repeat(301)}`, "example.com:443"])(
    "%s",
    (url) => expect(route(url)).toBe(NOWHERE),
  );
});
