/** Endpoint set A as data: published facts come from the operations table, the rest is stated here and marked as guesses. */
import { ENDPOINT_ROWS } from "../../operations.ts";
import { lists, PRICES, records, SHARED_GUESSES, singles, speech, statuses, tiersOf } from "./common.ts";

const operations = {
  // Set A publishes only a like: no body, and no vote down.
  "posts.vote": { body: null, values: { direction: { up: "like" } }, answer: "any" },
  "communities.join": { answer: "any" },
  "jobs.create": PRICES["jobs.create"],
};

export const SET_A = {
  name: "set-a",
  operations,
  extra: {},
  limits: [],
  answers: [],
  // Only the hourly figures of Free and Pro are published; the daily ones are those of Set B.
  tiers: tiersOf("a"),
  trust: {},
  records,
  lists,
  singles,
  statuses,
  ...speech,
  guesses: [
    ...SHARED_GUESSES,
    "tiers.free.perDay",
    "tiers.pro.perDay",
    ...ENDPOINT_ROWS.filter(({ set }) => set === "a").flatMap(({ operation, method }) => [
      // The only published payload is a new post's `content`.
      ...(method === "GET" || method === "DELETE" || operation === "posts.create" ? [] : [`operations.${operation}.body`]),
      `operations.${operation}.price`,
      `operations.${operation}.effect`,
      `operations.${operation}.answer`,
    ]),
  ],
};
