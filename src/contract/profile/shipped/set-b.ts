/** Endpoint set B as data: published facts come from the operations table, the rest is stated here and marked as guesses. */
import { ENDPOINT_ROWS } from "../../operations.ts";
import { lists, PRICES, records, SHARED_GUESSES, singles, speech, statuses, tiersOf } from "./common.ts";

const operations = {
  "posts.vote": { body: { direction: "{direction}" }, answer: "any" },
  "communities.join": { answer: "any" },
  ...PRICES,
};

export const SET_B = {
  name: "set-b",
  operations,
  extra: {},
  limits: [],
  answers: [],
  tiers: tiersOf("b"),
  trust: {},
  records,
  lists,
  singles,
  statuses,
  ...speech,
  guesses: [
    ...SHARED_GUESSES,
    "webhooks",
    ...ENDPOINT_ROWS.filter(({ set }) => set === "b").flatMap(({ operation, method }) => [
      // The only published payload is a new post's `content`.
      ...(method === "GET" || method === "DELETE" || operation === "posts.create" ? [] : [`operations.${operation}.body`]),
      `operations.${operation}.price`,
      `operations.${operation}.effect`,
      `operations.${operation}.answer`,
    ]),
  ],
};
