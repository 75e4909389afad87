/** Drafts lists of the network's own: comments that stand beside their post, and notifications. */
import type { Json } from "../../core/json.ts";
import { findList } from "../guess-shapes.ts";
import { finding, type Finding, type Proposal } from "../finding.ts";
import type { ApiOperation } from "./api-operations.ts";
import { pathOf, type DraftingOptions } from "./draft-requests.ts";
import { sampleOf } from "./schema-sample.ts";

const COMMENTS = /\/[^/{}]+\/\{[^{}]+\}\/(?:comments|replies|answers|responses|remarks)$/i;
const INBOX = /\/(?:notifications|inbox|activity|activities)$/i;

/** The two proposals that make a post's comments readable from a list of their own. */
export function commentList(path: string, because?: string): readonly Proposal[] {
  const doubt = because === undefined ? { isDoubtful: false } : { isDoubtful: true, because };
  const list: Json = { method: "GET", path, target: "post", effect: "read", list: true, record: "post" };
  return [
    { path: ["extra", "comments.list"], value: list, ...doubt },
    { path: ["operations", "posts.get", "replies"], value: "comments.list", ...doubt },
  ];
}

/** `others`: operations of the document that are none of ours. `postPath`: that of a single post. */
export function draftExtras(options: DraftingOptions, others: readonly ApiOperation[], postPath: string | undefined): readonly Finding[] {
  const lists = others.filter(
    ({ method, success }) => method === "GET" && findList(sampleOf(options.document, success?.schema)) !== undefined,
  );
  const comments = lists.find(({ path }) => postPath !== undefined && path.startsWith(`${postPath}/`) && COMMENTS.test(path));
  const inbox = lists.find(({ path }) => INBOX.test(path));
  return [
    ...(comments === undefined
      ? []
      : [finding("document", "warning", `comments are a list of their own: GET ${comments.path}`, commentList(pathOf(options, comments)))]),
    ...(inbox === undefined
      ? []
      : [
          finding("document", "warning", `the network lists what happened: GET ${inbox.path}`, [
            {
              path: ["extra", "inbox.list"],
              value: { method: "GET", path: pathOf(options, inbox), effect: "read", list: true, record: "notification", lane: "poll" },
              isDoubtful: false,
            },
            { path: ["notifications"], value: "inbox.list", isDoubtful: true, because: "by its path alone" },
          ]),
        ]),
  ];
}
