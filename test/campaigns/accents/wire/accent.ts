/** A network nobody tuned for: the same world in words, shapes and paths that a seed draws. */
import type { EndpointSet } from "../../../../src/contract/operations.ts";
import { isObject, parseJson, type Json, type JsonObject } from "../../../../src/core/json.ts";
import type { NetworkReply } from "../../../../src/local-network/server/exchange.ts";
import type { About, WireFormat } from "../../../../src/local-network/wire/wire.ts";
import type { LocalNetworkOptions } from "../../../../src/local-network/options.ts";
import type { World } from "../../../../src/local-network/world/world.ts";
import { eventIn } from "./events.ts";
import { exact, idsIn } from "./ids.ts";
import { linkHeader, listIn } from "./lists.ts";
import { recordIn } from "./records.ts";
import { errorType, limitHeadersIn, refusalIn, waitIn } from "./refusals.ts";
import { hearer, speechOf, type Speech } from "./requests.ts";
import { tellingIn } from "./telling.ts";
import { drawVoice, yes, type Voice } from "./voice.ts";

export interface Accent {
  readonly voice: Voice;
  /** What a local network that speaks so is opened with. */
  readonly network: Pick<LocalNetworkOptions, "wireFormats" | "assume">;
  /** What its documentation would say of each operation: what no read can show. */
  readonly documented: { readonly [set in EndpointSet]: Speech };
}

/** The accent of a seed. The same seed gives the same accent. */
export function accent(seed: number | string): Accent {
  const voice = drawVoice(seed);
  return {
    voice,
    network: {
      wireFormats: { a: (world) => dialectIn(voice, "a", world), b: (world) => dialectIn(voice, "b", world) },
      assume: { webhookScheme: voice.webhookScheme },
    },
    documented: { a: speechOf(voice, "a"), b: speechOf(voice, "b") },
  };
}

function dialectIn(voice: Voice, set: EndpointSet, world: World): WireFormat {
  const ids = idsIn(voice.ids, voice.salt);
  const telling = tellingIn(world, voice, ids);
  // Deliveries are signed as they are written, so that their ids are texts.
  const signed = tellingIn(world, voice, { ...ids, say: (id) => ids.inPath(id) });
  const speech = speechOf(voice, set);
  const isAcknowledged = (operation: About["operation"]): boolean => operation !== "" && speech[operation]?.acknowledged === true;
  return {
    record: (view, asker) => recordIn(telling, view, asker),
    list: (of, items, next, asked) => listIn(voice, of, { items, next, asked }),
    error: (code, message, _requestId, status) => refusalIn(voice, status, code, message),
    single: (view, record) => {
      if (view.type === "pending" || view.type === "done" || view.type === "token") return record;
      return singleIn(voice, view.type, record);
    },
    decode: hearer(voice, set, ids),
    encode: (reply, about) => said(voice, reply, about, isAcknowledged(about.operation)),
    event: (told) => eventIn(signed, told),
  };
}

function singleIn({ single }: Voice, name: string, record: JsonObject): Json {
  switch (single) {
    case "bare":
      return record;
    case "named":
      return { [name]: record };
    case "data":
      return { data: record };
    case "response":
      return { response: { [name]: record } };
  }
}

function said(voice: Voice, reply: NetworkReply, about: About, acknowledged: boolean): NetworkReply {
  const { status } = reply;
  const headers = { ...reply.headers, ...limitHeadersIn(voice, about.limits, about.now), ...linkHeader(voice, about.asked, about.next) };
  if (status >= 400) return refused(voice, { ...reply, headers }, about.now);
  const body = parseJson(reply.body);
  const isOver = body !== undefined && isObject(body) && isOnlyYes(voice, body);
  if (status !== 202 && (acknowledged || isOver)) return acknowledgedIn(voice, headers);
  const flagged = voice.flag !== "none" && body !== undefined && isObject(body) ? { [voice.flag]: true, ...body } : body;
  return { status, headers, body: exact(JSON.stringify(flagged)) };
}

function acknowledgedIn(voice: Voice, headers: NetworkReply["headers"]): NetworkReply {
  if (voice.done !== "empty") return { status: 200, headers, body: JSON.stringify({ [yes(voice)]: true }) };
  const { "content-type": _none, ...rest } = headers;
  return { status: 204, headers: rest, body: "" };
}

/** Whether a body says nothing but that it went well. */
function isOnlyYes(voice: Voice, body: JsonObject): boolean {
  const names = Object.keys(body);
  return names.length === 1 && body[yes(voice)] === true;
}

function refused(voice: Voice, reply: NetworkReply, now: number): NetworkReply {
  const { "retry-after": seconds, ...headers } = reply.headers;
  const wait = seconds === undefined ? undefined : waitIn(voice, Number(seconds), now);
  const body = parseJson(reply.body);
  const words = wait === undefined || body === undefined || !isObject(body) ? body : { ...body, ...wait.body };
  return { status: reply.status, headers: { ...headers, "content-type": errorType(voice), ...wait?.headers }, body: JSON.stringify(words) };
}
