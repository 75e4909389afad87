/** What an accent's webhooks are told. */
import type { Json, JsonObject } from "../../../../src/core/json.ts";
import type { OutgoingEvent } from "../../../../src/local-network/wire/wire.ts";
import { recordIn } from "./records.ts";
import type { Telling } from "./telling.ts";
import type { Voice } from "./voice.ts";
import { KINDS } from "./words.ts";

/** The accent's word for a kind of event. */
export function kindIn(voice: Voice, type: string): string {
  return KINDS[type]?.[voice.kinds] ?? type;
}

/** The kind that a word of the accent stands for. */
export function kindHeard(voice: Voice, word: Json): Json {
  return Object.keys(KINDS).find((type) => kindIn(voice, type) === word) ?? word;
}

export function eventIn(telling: Telling, told: OutgoingEvent): { readonly kind: string; readonly payload: JsonObject } {
  const { voice, ids, name, time } = telling;
  const { id, type, at, owner, subject } = told;
  const { post, job, agent, approval } = subject;
  const who = agent === undefined ? [] : telling.person(voice.author, agent.id);
  const about: JsonObject = {
    ...(approval === undefined
      ? {}
      : recordIn(telling, { type: "pending", approvalId: approval.id, operation: approval.operation }, owner)),
    ...(job === undefined ? {} : recordIn(telling, { type: "job", job, whole: false }, owner)),
    ...(post === undefined ? {} : recordIn(telling, { type: "post", post }, owner)),
    ...(agent === undefined || post !== undefined ? {} : recordIn(telling, { type: "agent", agent }, owner)),
    ...(post === undefined ? {} : { by: Object.fromEntries(who.map(([path, value]) => [path.at(-1) ?? "", value])) }),
  };
  const kind = kindIn(voice, type);
  const payload = {
    [voice.event.id]: ids.say(id),
    [voice.event.kind]: kind,
    [name("occurred at")]: time(at),
    [voice.event.object]: about,
  };
  return { kind, payload };
}
