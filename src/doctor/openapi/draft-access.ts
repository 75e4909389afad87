/** Drafts what all requests share from a document: where the key goes, its trade, the idempotency header, limits and event kinds. */
import type { Profile } from "../../contract/profile/profile.ts";
import { isObject, textIn, type Json, type JsonObject } from "../../core/json.ts";
import { DAY, HOUR, MINUTE, SECOND, showDuration } from "../../core/units.ts";
import { finding, type Finding, type Proposal } from "../finding.ts";
import { proposeKinds, proposeLimitHeaders } from "../meanings.ts";
import type { ApiOperation } from "./api-operations.ts";
import type { Match } from "./match-operations.ts";
import type { OpenDocument } from "./open-document.ts";
import { merged, namesIn } from "./schema-sample.ts";

const sure = (path: readonly string[], value: Json): Proposal => ({ path, value, isDoubtful: false });
const doubtful = (path: readonly string[], value: Json, because: string): Proposal => ({ path, value, isDoubtful: true, because });

/** The header that carries the key, and the exchange of the key for a token. */
export function draftAuth(document: OpenDocument, matches: readonly Match[], { auth }: Profile): readonly Finding[] {
  const { root } = document;
  const ordinary = matches.find(({ operation, name }) => operation.security !== undefined && !name.startsWith("auth."))?.operation;
  const names = ordinary?.security ?? securityOf(root["security"]);
  const name = names[0] ?? Object.keys(schemesOf(document))[0];
  const scheme = name === undefined ? undefined : schemesOf(document)[name];
  if (scheme === undefined) return [];
  const carrier = carrierOf(scheme);
  const trade = matches.find((match) => match.name === "auth.token")?.operation;
  const token = trade === undefined ? [] : tradeOf(document, trade, name);
  if (carrier === undefined && token.length === 0 && scheme["type"] !== "oauth2")
    return [
      finding(
        "document",
        "warning",
        `the key travels in a way that no profile can state: ${textIn(scheme, "type") ?? "unknown"} in ${textIn(scheme, "in") ?? "its own place"}`,
      ),
    ];
  const header = carrier ?? { header: "authorization", prefix: "Bearer " };
  const places = Object.entries(header).filter(([key, value]) => auth[key as "header" | "prefix"] !== value);
  const oauth = trade === undefined && scheme["type"] === "oauth2" ? clientCredentials(scheme) : [];
  const proposals = [...places.map(([key, value]) => sure(["auth", key], value)), ...token, ...oauth];
  const said = `the key travels in ${header.header}${token.length + oauth.length === 0 ? "" : ", and is exchanged for a token"}`;
  return [finding("document", proposals.length === 0 ? "ok" : "warning", said, proposals)];
}

function schemesOf(document: OpenDocument): Readonly<Record<string, JsonObject>> {
  const { components, securityDefinitions } = document.root;
  const stated = isObject(components) ? components["securitySchemes"] : securityDefinitions;
  const schemes = Object.entries(isObject(stated) ? stated : {}).flatMap(([name, value]) => {
    const scheme = document.follow(value);
    return isObject(scheme) ? [[name, scheme] as const] : [];
  });
  return Object.fromEntries(schemes);
}

function securityOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? (value as readonly Json[]).flatMap((one) => (isObject(one) ? Object.keys(one) : [])) : [];
}

function carrierOf(scheme: JsonObject): { readonly header: string; readonly prefix: string } | undefined {
  const name = textIn(scheme, "name")?.toLowerCase();
  const isBearer = scheme["type"] === "http" && textIn(scheme, "scheme")?.toLowerCase() === "bearer";
  if (isBearer) return { header: "authorization", prefix: "Bearer " };
  if (scheme["type"] !== "apiKey" || scheme["in"] !== "header" || name === undefined) return undefined;
  // Version 2.0 has no other way to say "bearer".
  const prefix = name === "authorization" ? (/\b(Bearer|Token|Bot)\b/i.exec(textIn(scheme, "description") ?? "")?.[1] ?? "") : "";
  return { header: name, prefix: prefix === "" ? "" : `${prefix} ` };
}

/** A key is exchanged where the exchange takes another scheme than everything else, or the key in its body. */
function tradeOf(document: OpenDocument, trade: ApiOperation, ordinary: string | undefined): readonly Proposal[] {
  const own = trade.security?.[0];
  const properties = merged(document, trade.body?.schema)?.["properties"];
  const fields = isObject(properties) ? Object.keys(properties) : [];
  const keyField = fields.find((name) => /^(?:api_?key|key|secret|client_?secret|agent_?key)$/i.test(name));
  const scheme = own === undefined || own === ordinary ? undefined : schemesOf(document)[own];
  const carrier = scheme === undefined ? undefined : carrierOf(scheme);
  const because = "the document has an exchange, and does not say that every key needs it";
  if (keyField !== undefined) {
    const fixed = fields.includes("grant_type") ? { grant_type: "client_credentials" } : {};
    return [
      doubtful(["auth", "exchange"], true, because),
      sure(["auth", "trade"], { header: null }),
      sure(["operations", "auth.token", "body"], { ...fixed, [keyField]: "{key}" }),
    ];
  }
  if (carrier === undefined) return [];
  return [doubtful(["auth", "exchange"], true, because), sure(["auth", "trade"], { ...carrier })];
}

function clientCredentials(scheme: JsonObject): readonly Proposal[] {
  const { flows } = scheme;
  const flow = isObject(flows) ? flows["clientCredentials"] : scheme;
  const address = isObject(flow) ? textIn(flow, "tokenUrl") : undefined;
  const path = address === undefined ? undefined : URL.parse(address, "http://network.invalid")?.pathname;
  if (path === undefined) return [];
  return [
    doubtful(["auth", "exchange"], true, "the document states OAuth's client credentials"),
    sure(["auth", "trade"], { header: null }),
    sure(["operations", "auth.token", "path"], path),
    sure(["operations", "auth.token", "method"], "POST"),
    sure(["operations", "auth.token", "encoding"], "form"),
    doubtful(
      ["operations", "auth.token", "body"],
      { grant_type: "client_credentials", client_secret: "{key}" },
      "its client_id is missing",
    ),
  ];
}

/** Headers that requests carry, and headers of limits in answers. */
export function draftHeaders(operations: readonly ApiOperation[], profile: Profile): readonly Finding[] {
  const writes = operations.filter(({ method }) => method !== "GET");
  const names = [...new Set(writes.flatMap(({ headers }) => headers.map(({ name }) => name.toLowerCase())))];
  const idempotency = names.find((name) => /idempot|client-?(?:token|request)|request-?(?:id|token)|dedup/.test(name));
  const proposals: Proposal[] = [];
  if (idempotency !== undefined && idempotency !== profile.idempotencyHeader) proposals.push(sure(["idempotencyHeader"], idempotency));
  for (const { name, schema, required } of operations.flatMap(({ headers }) => headers)) {
    const value = schema["const"] ?? schema["default"];
    const isOurs = ["authorization", "content-type", "accept", idempotency, profile.auth.header].includes(name.toLowerCase());
    if (required && !isOurs && typeof value === "string") proposals.push(sure(["headers", name.toLowerCase()], value));
  }
  proposals.push(...proposeLimitHeaders(profile, [...new Set(operations.flatMap(({ answerHeaders }) => answerHeaders))]));
  if (proposals.length === 0) return [];
  return [finding("document", "warning", `headers: ${proposals.map(({ path }) => path.join(".")).join(", ")}`, proposals)];
}

const NUMBERS: { readonly [word: string]: number } = { one: 1, a: 1, an: 1, single: 1, two: 2, three: 3, four: 4, five: 5, ten: 10 };
const UNITS: { readonly [unit in string]: number } = { second: SECOND, minute: MINUTE, hour: HOUR, day: DAY };
const LIMIT =
  /\b(\d{1,7}|one|an?|single|two|three|four|five|ten) (?:[a-z]+ ){0,2}?(?:[a-z]+) ?(?:per|every|each|within|in|an?|\/) ?(?:(\d{1,4}|one|an?|two|three|five|ten) ?)?(second|minute|hour|day)s?\b/i;

/** Limits that sentences of the document state: `at most 5 comments per hour`. */
export function draftLimits(document: OpenDocument, matches: readonly Match[], profile: Profile): readonly Finding[] {
  const { info } = document.root;
  const whole = limitIn(isObject(info) ? (textIn(info, "description") ?? "") : "");
  const own = matches.flatMap(({ name, operation }) => {
    const found = limitIn(operation.text);
    return found === undefined ? [] : [{ name: `${name}: ${found.max} in ${showDuration(found.perMs)}`, operations: [name], ...found }];
  });
  const all =
    whole === undefined ? [] : [{ name: `all requests: ${whole.max} in ${showDuration(whole.perMs)}`, operations: ["*"], ...whole }];
  const limits = [...all, ...own].map(({ name, operations, max, perMs }): Json => ({ name, operations, max, per: perMs }));
  if (limits.length === 0 || profile.limits.length > 0) return [];
  const because = "read from a sentence";
  return [finding("document", "warning", `limits in words: ${limits.length}`, [doubtful(["limits"], limits, because)])];
}

function limitIn(text: string): { readonly max: number; readonly perMs: number } | undefined {
  const [, many, length, unit] = LIMIT.exec(text) ?? [];
  if (many === undefined || unit === undefined) return undefined;
  const numberOf = (word: string): number => NUMBERS[word.toLowerCase()] ?? Number(word);
  const perMs = (length === undefined ? 1 : numberOf(length)) * (UNITS[unit.toLowerCase()] ?? HOUR);
  const max = numberOf(many);
  return Number.isSafeInteger(max) && max > 0 && perMs > 0 ? { max, perMs } : undefined;
}

/** Kinds of events: those a registration may ask for, and those the document describes as webhooks. */
export function draftWebhooks(document: OpenDocument, matches: readonly Match[], profile: Profile): readonly Finding[] {
  const { webhooks, "x-webhooks": older } = document.root;
  const described = isObject(webhooks) ? webhooks : isObject(older) ? older : {};
  const create = matches.find(({ name }) => name === "webhooks.create")?.operation;
  const words = [...Object.keys(described), ...enumsIn(document, create?.body?.schema)];
  const parameters = Object.values(described).flatMap((value) => headersOfDelivery(document, value));
  const signature = parameters.find((name) => /signature|hmac|digest/.test(name));
  const proposals = [
    ...proposeKinds(profile, words),
    ...(signature === undefined || profile.webhooks.signature.includes(signature)
      ? []
      : [doubtful(["webhooks", "signature"], [signature], "by its name; the scheme is not stated")]),
  ];
  if (words.length === 0) return [];
  return [finding("document", proposals.length === 0 ? "ok" : "warning", `${words.length} kinds of deliveries are described`, proposals)];
}

function headersOfDelivery(document: OpenDocument, value: Json | undefined): readonly string[] {
  const item = document.follow(value);
  const post = isObject(item) ? document.follow(item["post"]) : undefined;
  const parameters = isObject(post) && Array.isArray(post["parameters"]) ? (post["parameters"] as readonly Json[]) : [];
  return parameters.flatMap((one) => {
    const parameter = document.follow(one);
    const name = isObject(parameter) && parameter["in"] === "header" ? textIn(parameter, "name") : undefined;
    return name === undefined ? [] : [name.toLowerCase()];
  });
}

/** The words that a body's list of events may hold; a body may be wrapped. */
function enumsIn(document: OpenDocument, schema: Json | undefined, depth = 0): readonly string[] {
  const properties = merged(document, schema)?.["properties"];
  if (!isObject(properties) || depth > 2) return [];
  return Object.values(properties).flatMap((value) => {
    const items = merged(document, merged(document, value)?.["items"]);
    return [...namesIn(items?.["enum"]), ...enumsIn(document, value, depth + 1)];
  });
}
