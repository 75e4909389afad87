/** Profiles written for a person: guesses marked in place, and a file that a person wrote keeps its words. */
import { expect, test } from "vitest";
import { parse } from "yaml";
import { profileYaml, withAdded, withWebhooks } from "../../src/config/profile-write.ts";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import type { ProfileSource } from "../../src/contract/profile/source.ts";

const source: ProfileSource = {
  extends: "set-b",
  operations: { "posts.reply": { path: "/v1/comments/{target}" } },
  paging: { style: "page" },
  guesses: ["operations.posts.reply.path", "paging.style", "times"],
};

test("a written profile reads as it was meant, with each guess marked at its place", () => {
  const text = profileYaml(source, ["Drafted by the doctor.", "Check it."]);
  expect(parse(text)).toEqual(source);
  expect(text.split("\n").slice(0, 2)).toEqual(["# Drafted by the doctor.", "# Check it."]);
  const lines = text.split("\n");
  const marked = lines.filter((_line, i) => lines[i - 1]?.trim().startsWith("# a guess") === true).map((line) => line.trim());
  expect(marked).toEqual(["/v1/comments/{target}", "page"]);
});

const WRITTEN = `# ours
extends: set-b
webhooks:
  scheme: header # checked in May
guesses:
  - webhooks.scheme # not any more
  - paging.style
`;

test("webhook rules are added to a written file, and its comments and other statements stay", () => {
  const text = withWebhooks(WRITTEN, { signature: ["x-signed"] }, ["webhooks.signature"]);
  expect(text).toContain("# ours");
  expect(text).toContain("scheme: header # checked in May");
  expect(parse(text)).toEqual({
    extends: "set-b",
    webhooks: { scheme: "header", signature: ["x-signed"] },
    guesses: ["webhooks.scheme", "paging.style", "webhooks.signature"],
  });
  resolveProfile(parse(text));
});

test("a rule that the file states otherwise stays, and kinds are completed", () => {
  const stated = "extends: set-b\nwebhooks:\n  scheme: header\n  kinds: { Poked: mention.created }\nguesses: [webhooks.scheme]\n";
  const text = withWebhooks(stated, { scheme: "standard", kinds: { Poked: "post.liked", Paid: "job.paid" } }, ["webhooks.kinds.Paid"]);
  expect(parse(text)).toEqual({
    extends: "set-b",
    webhooks: { scheme: "header", kinds: { Poked: "mention.created", Paid: "job.paid" } },
    guesses: ["webhooks.scheme", "webhooks.kinds.Paid"],
  });
});

test("an addition of a draft stands beside the written lines, with a mark, and nothing else moves", () => {
  const stated = "# ours\nextends: set-b\npaging: { style: page } # seen\nguesses: [paging.style]\n";
  const added: ProfileSource = {
    extends: "set-b",
    paging: { style: "cursor", parameter: "p" },
    statuses: { open: ["free"] },
    guesses: ["paging.style", "statuses.open"],
  };
  const text = withAdded(stated, added, (guess) => `because of ${guess}`);
  expect(text).toContain("# ours\nextends: set-b\npaging: { style: page, parameter: p } # seen");
  expect(text).toContain("# a guess: because of statuses.open");
  expect(text).not.toContain("because of paging.style");
  expect(parse(text)).toMatchObject({ statuses: { open: ["free"] }, guesses: ["paging.style", "statuses.open"] });
});

test("a guess that is settled leaves no empty list behind", () => {
  const text = withWebhooks("extends: set-b\nguesses: [webhooks.scheme]\n", { scheme: "standard" }, []);
  expect(parse(text)).toEqual({ extends: "set-b", webhooks: { scheme: "standard" } });
});

test("rules that would make the profile invalid are not written", () => {
  expect(() => withWebhooks(WRITTEN, { kinds: { hi: "hello.world" } }, [])).toThrow(expect.objectContaining({ code: "profile_invalid" }));
  expect(() => withWebhooks("name: nobody\n", { scheme: "standard" }, [])).toThrow(expect.objectContaining({ code: "profile_invalid" }));
});

test("a file without any statement is refused like any other that is no profile", () => {
  expect(() => withWebhooks("# nothing yet\n", { scheme: "standard" }, [])).toThrow(expect.objectContaining({ code: "profile_invalid" }));
});
