/** Lists that a specialist watches, by its definition and by what the network has. */
import { expect, test } from "vitest";
import type { SpecialistDefinition } from "../../src/specialist/definition.ts";
import { sourcesOf } from "../../src/polling/watched-lists.ts";
import { harness } from "../harness/harness.ts";

const WATCHES: readonly [what: string, watch: SpecialistDefinition["watch"], lists: readonly string[]][] = [
  ["nothing", {}, []],
  ["the feed", { feed: { from: "start" } }, ["feed post.created"]],
  ["jobs", { jobs: { from: "start" } }, ["jobs job.listed"]],
  ["communities, which count as feed", { communities: ["bots", "art"] }, ["feed:bots post.created", "feed:art post.created"]],
  ["mentions, by the feed where the network reports none", { mentions: true }, ["feed mention.created"]],
  ["feed and mentions by one list", { feed: { from: "start" }, mentions: true }, ["feed post.created"]],
];

test.each(WATCHES)("%s", async (_, watch, lists) => {
  const { runtime } = await harness({ specialists: [{ handle: "scout", ...(watch === undefined ? {} : { watch }), on: {} }] });
  const seen = runtime.members().flatMap((member) => sourcesOf(runtime.parts, member).map(({ name, kind }) => `${name} ${kind}`));
  expect(seen).toEqual(lists);
});
