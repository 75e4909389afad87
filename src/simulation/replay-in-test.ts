/** Recordings of handlings: replayed by a changed definition, they decide the same, or the first difference is told. */
import { Misconfigured, Refused } from "../core/errors.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import type { GivenSpecialist } from "./given-in-test.ts";
import { storable } from "../specialist/run-request.ts";
import { BEGINS, handleWith, type Handled, type HandledKind, type HandledPayload, type HandleOptions } from "./handle-in-test.ts";

const VERSION = 1;

/** A handling as JSON, for a file beside its test: the event, all that the handler read and computed, and its decisions. */
export interface RunRecording {
  /** The version of this format. */
  readonly recording: number;
  readonly handle: string;
  readonly kind: string;
  readonly payload: Json;
  /** Ms since the epoch. */
  readonly now: number;
  /** The specialist's value before. */
  readonly state?: JsonObject;
  /** Results of steps, reads and tools. */
  readonly answers: { readonly [name: string]: Json };
  readonly decided: { readonly intents: Json; readonly state: JsonObject };
}

/** Handles one event as `handle` does, and records it. Rejects as `handle` does. */
export async function record<const Kind extends HandledKind>(
  definition: GivenSpecialist,
  kind: Kind,
  payload: HandledPayload<Kind>,
  options: HandleOptions = {},
): Promise<RunRecording> {
  const { now = BEGINS, state } = options;
  const { handled, answers } = await handleWith(definition, kind, payload, options);
  return {
    recording: VERSION,
    handle: definition.handle,
    kind,
    payload: storable("the payload", payload),
    now,
    ...(state === undefined ? {} : { state }),
    answers,
    decided: decisionsOf(handled),
  };
}

/**
 * Handles a recorded event again: it reads and computes nothing that the recording holds. Resolves if the decisions and the state are the
 * same. Rejects with `Refused` (`replay_differs`) and the first difference, and with `Misconfigured` (`recording_invalid`) for a recording
 * of another version or another specialist.
 */
export async function replay(
  definition: GivenSpecialist,
  recording: RunRecording,
  options: Omit<HandleOptions, "state" | "now" | "steps"> = {},
): Promise<Handled> {
  if (!isObject(recording)) throw new Misconfigured("recording_invalid", "expected what `record` answered, got no object");
  const { recording: version, handle, kind, payload, now, state, answers, decided } = recording;
  if (version !== VERSION)
    throw new Misconfigured("recording_invalid", `expected a recording of version ${VERSION}, got ${JSON.stringify(version ?? null)}`, {
      hint: "record it again with this version of retinue",
    });
  if (handle !== definition.handle)
    throw new Misconfigured("recording_invalid", `expected a recording of ${definition.handle}, got one of ${handle}`);
  const { handled } = await handleWith(definition, kind, payload, { ...options, now, ...(state === undefined ? {} : { state }) }, answers);
  const difference = firstDifference(storable("the recording", decided), decisionsOf(handled), "");
  if (difference === undefined) return handled;
  throw new Refused("replay_differs", `the handling of ${kind} decides otherwise: ${difference}`, {
    hint: "record it again if the change is meant",
  });
}

function decisionsOf({ intents, state }: Handled): { readonly intents: Json; readonly state: JsonObject } {
  return { intents: storable("the decisions", intents), state };
}

/** For example `intents[0].input.content: expected "yes", got "no"`. */
function firstDifference(expected: Json | undefined, got: Json | undefined, path: string): string | undefined {
  if (Array.isArray(expected) && Array.isArray(got)) {
    for (let i = 0; i < Math.max(expected.length, got.length); i++) {
      const found = firstDifference(expected[i], got[i], `${path}[${i}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (isObject(expected) && isObject(got)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(got)])) {
      const found = firstDifference(expected[name], got[name], path === "" ? name : `${path}.${name}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const [one, other] = [expected, got].map((value) => (value === undefined ? "nothing" : JSON.stringify(value).slice(0, MAX_SHOWN)));
  return expected === got ? undefined : `${path}: expected ${one}, got ${other}`;
}

/** Characters of a value in the message. */
const MAX_SHOWN = 200;
