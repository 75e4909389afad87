/** `retinue retract`: deletes a post of ours, as an action of the specialist that made it, and reads back if it is gone. */
import { loadProfile } from "../../config/profile-file.ts";
import type { Explanation } from "../../guardian/explanation.ts";
import { DROPPED } from "../../outbox/intent.ts";
import { isRetinueError, Misconfigured, Refused } from "../../core/errors.ts";
import { callThrough } from "../call-alone.ts";
import { EXIT, PROJECT_OPTIONS, type Command, type Context } from "../command.ts";
import { withGuardian } from "../find-guardian.ts";
import { say } from "../text.ts";

const POSTS: readonly string[] = ["posts.create", "posts.reply"];
const DELETE = "posts.delete";

export const command: Command = {
  name: "retract",
  arguments: "<intent>",
  describe:
    "Deletes a post or reply that an action of ours created, where the network has an operation for it (Set A). An action of the same specialist like any other: posts.delete must be in its may.",
  options: PROJECT_OPTIONS,
  examples: ["retinue retract i0f3k9x0b2m4q7w1zd"],
  async run(context) {
    const { args, out } = context;
    const config = await context.loadConfig();
    const lacking = (await loadProfile(config.network.profile)).operations.get(DELETE)?.unsupported;
    if (lacking !== undefined)
      throw new Misconfigured("operation_not_in_set", `nothing can be retracted here: ${lacking}`, {
        hint: "the network's own dashboard may delete it; a profile can state the operation if the network has it",
      });
    const { handle, created } = await readRetractable(context, args[0] ?? "");
    const call = (operation: string) => callThrough(context, config, { handle, operation, target: created, input: {} });
    const result = await call(DELETE);
    if (result.kind !== "write") throw new TypeError(`expected ${DELETE} to be a write`);
    const { state, intent, message = "" } = result;
    const isGone = state === "confirmed" && (await isUnreadable(() => call("posts.get")));
    out.result({ ok: isGone, handle, post: created, intent, state, gone: isGone });
    if (isGone) out.line(say`retracted ${out.paint.bold(created)}: read back, and it is gone ${out.paint.dim(intent)}`);
    else if (state === "confirmed")
      out.line(`the network confirms that ${created} is deleted, but it can still be read, or could not be read back now`);
    else out.line(`${created} is not deleted yet, its deletion is ${state}: ${message}; retinue why ${intent}`);
    return isGone ? EXIT.done : EXIT.failed;
  },
};

/** The confirmed post of ours. Throws `Refused` (`nothing_found`, `not_retractable`, `already_retracted`). */
async function readRetractable(context: Context, id: string): Promise<{ readonly handle: string; readonly created: string }> {
  return withGuardian(context, async (guardian) => {
    const why = await guardian.why({ id });
    const created = why.about === "intent" && why.state === "confirmed" && POSTS.includes(why.what) ? why.created : undefined;
    if (created === undefined)
      throw new Refused("not_retractable", `"${id}" is ${reasonOf(why)}`, {
        hint: "retinue log lists our actions; only a confirmed post or reply can be retracted",
      });
    const { found = [] } = await guardian.why({ id: created });
    const earlier = found.find(({ what, state }) => what === DELETE && !DROPPED.some((dropped) => dropped === state));
    if (earlier !== undefined)
      throw new Refused("already_retracted", `${created} is already retracted: ${earlier.id} is ${earlier.state}`, {
        hint: `retinue why ${earlier.id}`,
      });
    return { handle: why.handle, created };
  });
}

function reasonOf({ about, what, state }: Explanation): string {
  if (about !== "intent") return "no action of ours";
  return POSTS.includes(what) ? `${state}, so there is no post of ours to delete` : `no post: it is ${what}`;
}

/** Codes of networks for an object that is not there. */
const GONE = /^(?:http_)?(?:404|410|gone|deleted|(?:post_)?not_found)$/;

/** True if the network says that there is nothing. Without such an answer the deletion is confirmed, and not proven. */
async function isUnreadable(read: () => Promise<unknown>): Promise<boolean> {
  try {
    await read();
    return false;
  } catch (error) {
    if (isRetinueError(error)) return error instanceof Refused && GONE.test(error.code);
    throw error;
  }
}
