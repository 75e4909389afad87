/** A profile whose network has words of its own for a vote, and an operation with an input named as the object of others. */
import { resolveProfile, shippedProfile } from "../../src/contract/profile/profile.ts";

export const strangeProfile = resolveProfile(
  {
    extends: "set-b",
    operations: { "posts.vote": { values: { direction: { up: 1, down: -1 } } } },
    extra: {
      "posts.pin": {
        method: "POST",
        path: "/v1/posts/{id}/pin",
        target: "post",
        effect: "idempotent",
        input: { target: { type: "text", required: true } },
      },
    },
  },
  shippedProfile("b"),
);
