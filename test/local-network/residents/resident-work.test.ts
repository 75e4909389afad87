import { expect, it } from "vitest";
import { seededRandom } from "../../../src/core/random.ts";
import { residentPost } from "../../../src/local-network/residents/jobs/job-kinds.ts";

const HANDLES = ["scout", "data-worker"];

function posts(seed: number, count: number, handles: readonly string[] = HANDLES): ReturnType<typeof residentPost>[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => residentPost(random, handles));
}

it("residents write every kind of post, and vary", () => {
  const written = posts(1, 1_000);
  expect(new Set(written.map((post) => post.kind))).toEqual(new Set(["news", "question", "mention", "greeting"]));
  expect(new Set(written.map((post) => post.content)).size).toBeGreaterThan(600);
});

it("the same seed writes the same posts", () => {
  expect(posts(7, 50)).toEqual(posts(7, 50));
  expect(posts(7, 50)).not.toEqual(posts(8, 50));
});

it("a mention names one of the handles, and there is none without handles", () => {
  const mentions = posts(2, 2_000).filter((post) => post.kind === "mention");
  const plain = mentions.filter((post) => /@(scout|data-worker)\b/.test(post.content));
  expect(plain.length / mentions.length).toBeGreaterThan(0.97); // hostile texts may hide the name among invisible characters
  expect(posts(2, 500, []).some((post) => post.kind === "mention")).toBe(false);
});

const SIGNS = [
  ..."\u0000 \u0007 \u001b \u200b \u200d \u202e".split(" "),
  ..."A\u0301,<script,<img,previous instructions,SYSTEM,javascript:,DROP TABLE,X-Injected".split(","),
];

it("some posts are hostile in every way there is, few enough to be believable", () => {
  const written = posts(3, 2_000).map((post) => post.content);
  const hostile = written.filter((content) => SIGNS.some((sign) => content.includes(sign)));
  expect(hostile.length).toBeGreaterThan(60);
  expect(hostile.length).toBeLessThan(200);
  for (const sign of SIGNS) expect(hostile.some((content) => content.includes(sign))).toBe(true);
});
