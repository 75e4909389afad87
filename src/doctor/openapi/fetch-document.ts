/** Fetches an OpenAPI document: without a key, bounded, from a public address or from the network's own host. */
import type { Transport, WireAnswer } from "../../client/transport.ts";
import { parseBaseAddress } from "../../contract/base-address.ts";
import { Misconfigured, Retryable, RetinueError } from "../../core/errors.ts";
import { SECOND } from "../../core/units.ts";
import { innerAddress } from "../../webhooks/receiver/public-address.ts";
import { openDocument, tooLarge, type OpenDocument } from "./open-document.ts";

const DEADLINE_MS = 20 * SECOND;
const LOOK_DEADLINE_MS = 5 * SECOND;
const MAX_REDIRECTS = 3;
/** Paths at which networks serve their document, likeliest first; each is one request without a key. */
const USUAL: readonly string[] = [
  "/openapi.json",
  "/openapi.yaml",
  "/.well-known/openapi.json",
  "/.well-known/openapi.yaml",
  "/swagger.json",
  "/api-docs",
];

export interface FetchOptions {
  readonly baseUrl: string;
  readonly transport: Transport;
}

/**
 * The text at an address. Throws `Misconfigured` (`openapi_address`) for an address that may not be asked, `openapi_too_large`, and
 * `Retryable` (`openapi_unreachable`).
 */
export async function fetchDocument(address: string, { baseUrl, transport }: FetchOptions): Promise<string> {
  const refuse = (message: string): Misconfigured =>
    new Misconfigured("openapi_address", message, {
      expected: "a public http(s) address without credentials, or a file",
      hint: "download the document and give the file: retinue doctor --openapi openapi.yaml",
    });
  const first = URL.parse(address);
  if (first === null || !/^https?:$/.test(first.protocol)) throw refuse("--openapi is neither an http(s) address nor a file");
  if (first.username !== "" || first.password !== "") throw refuse("the address contains a name or password, which is not sent");
  const { origin } = parseBaseAddress(baseUrl);
  const isLocal = innerAddress(baseUrl) !== undefined;
  const inner = first.origin === origin || isLocal ? undefined : innerAddress(first.href);
  if (inner !== undefined) throw refuse(`the address is not public: ${inner}`);
  let url = first;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const answer = await get(transport, url, DEADLINE_MS);
    if (answer.kind === "answer" && answer.status === 200) return answer.text;
    const next = redirectOf(answer, url);
    if (next === undefined) throw unreachable(answer, url);
    if (next.host !== first.host) throw refuse(`the address leads to another host (${next.host}), which is not asked`);
    url = next;
  }
  throw refuse(`the address leads on more than ${MAX_REDIRECTS} times`);
}

/** The document at one of the usual addresses of the network; undefined if none of them has one. */
export async function findDocument({
  baseUrl,
  transport,
}: FetchOptions): Promise<{ readonly document: OpenDocument; readonly at: string } | undefined> {
  const { origin, segments } = parseBaseAddress(baseUrl);
  const prefix = segments.map((segment) => `/${segment}`).join("");
  const addresses = [...USUAL, ...(prefix === "" ? [] : [`${prefix}/openapi.json`, `${prefix}/openapi.yaml`])];
  for (const path of addresses) {
    const url = new URL(path, origin);
    const answer = await get(transport, url, LOOK_DEADLINE_MS);
    if (answer.kind !== "answer" || answer.status !== 200) continue;
    try {
      return { document: openDocument(answer.text, url.href), at: url.href };
    } catch (error) {
      // Many networks answer every path with a page for people.
      if (!(error instanceof RetinueError)) throw error;
    }
  }
  return undefined;
}

function get(transport: Transport, url: URL, deadlineMs: number): Promise<WireAnswer> {
  const headers = { accept: "application/json, application/yaml;q=0.9, */*;q=0.1", "accept-encoding": "identity", "user-agent": "retinue" };
  return transport({ method: "GET", origin: url.origin, path: `${url.pathname}${url.search}`, headers, deadlineMs });
}

function redirectOf(answer: WireAnswer, from: URL): URL | undefined {
  if (answer.kind !== "answer" || answer.status < 300 || answer.status > 399) return undefined;
  const to = answer.headers["location"];
  const next = typeof to === "string" ? URL.parse(to, from.href) : null;
  return next !== null && /^https?:$/.test(next.protocol) ? next : undefined;
}

function unreachable(answer: WireAnswer, url: URL): RetinueError {
  if (answer.kind !== "answer" && /larger than/.test(answer.reason)) return tooLarge(url.href);
  const said = answer.kind === "answer" ? `it answers ${answer.status}` : answer.reason;
  return new Retryable("openapi_unreachable", `no document at ${url.origin}${url.pathname}: ${said}`, {
    hint: "open the address in a browser; a document that needs a login can be downloaded and given as a file",
  });
}
