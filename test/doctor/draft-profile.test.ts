/** Drafts of a profile: findings become data, doubts are marked, and what a person wrote stays as it is. */
import { describe, expect, test } from "vitest";
import { resolveProfile, shippedProfile } from "../../src/contract/profile/profile.ts";
import type { ProfileSource } from "../../src/contract/profile/source.ts";
import { addDraft, applied, asSeen, differences, draftProfile } from "../../src/doctor/draft-profile.ts";
import type { Proposal } from "../../src/doctor/finding.ts";

const draft = (...proposals: readonly Proposal[]): ProfileSource => draftProfile(shippedProfile("b"), [{ proposals }]);

test("proposals become the statements of a profile, and the doubtful ones its guesses, each once", () => {
  const made = draft(
    { path: ["paging", "style"], value: "page", isDoubtful: false },
    { path: ["records", "post", "id"], value: ["post_uuid"], isDoubtful: true },
    { path: ["records", "post", "id"], value: ["post_uuid"], isDoubtful: true },
  );
  expect(made).toEqual({
    extends: "set-b",
    name: "drafted",
    paging: { style: "page" },
    records: { post: { id: ["post_uuid"] } },
    guesses: ["records.post.id"],
  });
  expect(draft()).toEqual({ extends: "set-b", name: "drafted" });
});

test("a place that was found to be one field is no candidate of another any longer", () => {
  const made = draft({ path: ["records", "job", "title"], value: ["description"], isDoubtful: false });
  const { job } = resolveProfile(made).records;
  expect(job?.["title"]).toEqual(["description"]);
  expect(job?.["description"]).not.toContain("description");
  expect(made.guesses).toBeUndefined();
});

describe("added to what a person wrote", () => {
  const found: ProfileSource = {
    extends: "set-b",
    paging: { style: "page", parameter: "p" },
    records: { post: { id: ["uuid"], content: ["words"] }, job: { title: ["label"] } },
    operations: { "posts.vote": { unsupported: "gone" }, "jobs.list": { unsupported: "gone" } },
    guesses: ["records.post.id", "paging.parameter", "records.job.title"],
  };

  test("nothing stated changes, and a doubt about it is not marked", () => {
    const written: ProfileSource = {
      extends: "set-b",
      name: "mine",
      records: { post: { id: ["number"] } },
      operations: { "posts.vote": { path: "/votes/{target}" } },
      guesses: ["timing.readLagMs"],
    };
    expect(addDraft(written, found)).toEqual({
      extends: "set-b",
      name: "mine",
      paging: { style: "page", parameter: "p" },
      records: { post: { id: ["number"], content: ["words"] }, job: { title: ["label"] } },
      operations: { "posts.vote": { path: "/votes/{target}" }, "jobs.list": { unsupported: "gone" } },
      guesses: ["timing.readLagMs", "paging.parameter", "records.job.title"],
    });
  });

  test("another way to page is not mixed with the stated one", () => {
    expect(addDraft({ extends: "set-b", paging: { style: "offset" } }, found).paging).toEqual({ style: "offset" });
  });

  test("no field is added at a place that is stated for another", () => {
    expect(addDraft({ extends: "set-b", records: { post: { parentId: ["uuid"] } } }, found).records?.["post"]).toEqual({
      parentId: ["uuid"],
      content: ["words"],
    });
  });
});

test("differences name each path with both values, but for name and guesses", () => {
  const written: ProfileSource = { extends: "set-b", name: "a", paging: { style: "page" }, drift: "slow" };
  const seen: ProfileSource = { extends: "set-b", name: "b", paging: { style: "cursor" }, times: "iso", guesses: ["times"] };
  expect(differences(written, asSeen(written, seen))).toEqual([
    { path: "paging.style", was: '"page"', is: '"cursor"' },
    { path: "times", was: undefined, is: '"iso"' },
  ]);
  expect(differences(written, { ...written, name: "other" })).toEqual([]);
});

test("proposals that contradict each other are left out, and named", () => {
  const words = (status: string): Proposal => ({ path: ["statuses", status], value: ["free"], isDoubtful: true });
  const { profile, left } = applied(shippedProfile("b"), [
    { proposals: [{ path: ["paging", "style"], value: "page", isDoubtful: false }, words("open"), words("paid")] },
    { proposals: [{ path: ["operations", "posts.get", "no_such_key"], value: 1, isDoubtful: false }] },
  ]);
  expect(profile.paging.style).toBe("page");
  expect(left).toContain("operations.posts.get.no_such_key");
  expect(left.some((path) => path.startsWith("statuses."))).toBe(true);
});

describe("a draft beside what a person wrote", () => {
  const found = (source: Partial<ProfileSource>): ProfileSource => ({ extends: "set-b", ...source });

  test("completes an operation at the same path, and leaves one that is elsewhere alone", () => {
    const written = found({
      operations: { "posts.reply": { path: "/a/:id" }, "jobs.apply": { path: "/mine/:id" }, "posts.get": { unsupported: true } },
    });
    const draft = found({
      operations: {
        "posts.reply": { path: "/a/:id", body: { text: "{content}" } },
        "jobs.apply": { path: "/theirs/:id", body: { pitch: "{message}" } },
        "posts.get": { path: "/p/:id" },
      },
    });
    expect(addDraft(written, draft).operations).toEqual({
      ...written.operations,
      "posts.reply": { path: "/a/:id", body: { text: "{content}" } },
    });
  });

  test("leaves out a word that is stated for another state", () => {
    const written = found({ statuses: { open: ["taken"] } });
    const added = addDraft(written, found({ statuses: { assigned: ["taken"], paid: ["settled up"] } }));
    expect(added.statuses).toMatchObject({ open: ["taken"] });
    expect(() => resolveProfile(added)).not.toThrow();
  });
});
