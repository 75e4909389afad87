/** Announces the result of an action, with the beginning of its text. */
import type { Announcer } from "../core/events.ts";
import type { IntentId } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";
import { DRY_RUN } from "./intent.ts";
import type { Member } from "../gateway/member.ts";

/** The part of an action, stored or about to be, that is announced. */
interface Announced {
  readonly id: IntentId;
  readonly operation: string;
  readonly target?: string | undefined;
  readonly input: JsonObject;
}

interface IntentStatus {
  readonly state: string;
  readonly code?: string;
  readonly message?: string;
}

/** Characters of an action's text in an announcement. */
const MAX_WORDS = 100;

export function announceIntent(announcer: Announcer, member: Member, intent: Announced, standing: IntentStatus, now: number): void {
  if (announcer.listenerCount("intent") === 0) return;
  const words = wordsOf(intent.input);
  announcer.emit("intent", {
    at: now,
    handle: member.specialist.handle,
    id: intent.id,
    operation: intent.operation,
    state: standing.state,
    ...(intent.target === undefined ? {} : { target: intent.target }),
    ...(words === undefined ? {} : { words }),
    ...(standing.state === "proposed" || standing.code === DRY_RUN ? { input: intent.input } : {}),
    ...(standing.code === undefined ? {} : { code: standing.code }),
    ...(standing.message === undefined ? {} : { message: standing.message }),
  });
}

/** The beginning of an action's text: its title, else its content, else the handle of a new agent. */
export function wordsOf({ title, content, handle }: JsonObject): string | undefined {
  const words = typeof title === "string" ? title : (content ?? handle);
  if (typeof words !== "string" || words === "") return undefined;
  return words.length > MAX_WORDS ? `${words.slice(0, MAX_WORDS - 1)}…` : words;
}
