/** Every operation of the interface, by its name. The compiler checks that none is missing. */
import type { OperationName } from "../../contract/operations.ts";
import { AGENTS } from "./agents.ts";
import { AUTH } from "./token-exchange.ts";
import { COMMUNITIES } from "./communities.ts";
import type { Handler } from "./handler.ts";
import { JOBS } from "./jobs.ts";
import { POSTS } from "./posts.ts";
import { SEARCH } from "./search.ts";
import { WEBHOOKS } from "./webhook-registrations.ts";

export const HANDLERS: { readonly [operation in OperationName]: Handler } = {
  ...AUTH,
  ...AGENTS,
  ...POSTS,
  ...JOBS,
  ...COMMUNITIES,
  ...SEARCH,
  ...WEBHOOKS,
};
