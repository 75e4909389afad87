/** A network of Set B that repeats the secrets it is given in all that it says, in every way that text can carry them. */
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "vitest";
import { isObject, parseJson, type JsonObject } from "../../src/core/json.ts";

export interface Parrot {
  readonly baseUrl: string;
  /** `POST /v1/posts`, as they came. */
  readonly requests: readonly { readonly line: string; readonly body: string }[];
}

/** Stands for the key of the request, for every secret in every form, and for a message that is cut in the middle of a key. */
const KEY = "@key@";
const NOISE = "@noise@";
const CUT = "@cut@";

/** The forms of a secret, as they stand inside the quotes of a JSON text. */
export function formsOf(secret: string): readonly string[] {
  const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
  const hex = (text: string, before: string, digits: number): string =>
    Array.from({ length: text.length }, (_, at) => before + text.charCodeAt(at).toString(16).padStart(digits, "0")).join("");
  const base64 = ["", "x", "Bearer ", "user:"].map((before) => Buffer.from(before + secret).toString("base64"));
  return [
    escaped(secret),
    hex(secret, "\\u", 4),
    escaped(secret)
      .replaceAll("/", "\\/")
      .replace(/[a-z]/i, (char) => hex(char, "\\u", 4)),
    escaped(hex(secret, "\\u", 4)),
    escaped(escaped(secret)),
    encodeURIComponent(secret),
    hex(secret, "%", 2),
    encodeURIComponent(encodeURIComponent(secret)),
    secret.startsWith("whsec_") ? secret.slice("whsec_".length) : escaped(secret.toUpperCase()),
    ...base64,
    ...base64.map((text) => encodeURIComponent(text)),
    Buffer.from(secret).toString("base64url"),
  ];
}

interface Answer {
  readonly status: number;
  readonly body: JsonObject | string;
}

/** Posts by somebody else, whose ids differ in their tails alone. */
const TAILS = "abcdefghijk".split("");

const post = (tail: string): JsonObject => ({
  id: `post-${KEY}-${tail}`,
  author_id: `quill-${KEY}`,
  author_handle: "quill",
  content: NOISE,
  created_at: new Date().toISOString(),
  [KEY]: KEY,
  nested: { [`before ${KEY}`]: [KEY, { deep: NOISE }] },
});

const ROUTES: readonly (readonly [RegExp, (asked: Asked) => Answer])[] = [
  [/^GET .*\/posts\?.*cursor=/, () => ({ status: 200, body: { items: [], pagination: { next_cursor: null, has_more: false } } })],
  [/^GET .*\/posts(\?|$)/, () => ({ status: 200, body: { items: TAILS.map(post), note: NOISE } })],
  [/^GET .*\/posts\//, ({ id }) => ({ status: 200, body: { ...post(id.at(-1) ?? ""), replies: [post(`${id.at(-1)}-re`)] } })],
  [
    /^GET .*\/agents(\?|$)/,
    ({ handle }) => ({ status: 200, body: { items: [{ id: `me-${KEY}`, handle, bio: NOISE, tier: "pro", api_key: KEY }] } }),
  ],
  [
    /^GET .*\/webhooks/,
    ({ secrets }) => ({
      status: 200,
      body: { items: secrets.map((secret, i) => ({ id: `w${i}-${KEY}`, url: `https://a.example/${encodeURIComponent(secret)}`, secret })) },
    }),
  ],
  [/^POST .*\/webhooks/, ({ sent }) => ({ status: 422, body: { error: { code: `no-${KEY}`, message: `${sent}: ${CUT}` } } })],
  [/^POST .*\/posts$/, () => ({ status: 422, body: { error: { code: `bad-${KEY}`, message: CUT, request_id: `r-${KEY}` } } })],
  [/^POST .*-f\/.*repl/, () => ({ status: 500, body: `<h1>${NOISE}</h1>` })],
  [/^POST .*repl/, ({ id }) => ({ status: 201, body: { ...post("mine"), content: NOISE, parent_id: id } })],
  [/vote/, () => ({ status: 202, body: { status: "pending_approval", approval: { id: `ap-${KEY}` }, message: NOISE } })],
  [/^POST .*\/communities/, () => ({ status: 200, body: `nothing that can be read: ${NOISE}` })],
];

interface Asked {
  readonly handle: string;
  /** The last but one part of the path. */
  readonly id: string;
  /** Of the webhook that is to be made: its address and secret. */
  readonly sent: string;
  readonly secrets: readonly string[];
}

/** `keys` are those of the specialists, by handle; `others` every other secret there is. */
export async function parrot(
  { onTestFinished }: TestContext,
  keys: ReadonlyMap<string, string>,
  others: readonly string[],
): Promise<Parrot> {
  const requests: { line: string; body: string }[] = [];
  const noise = [...keys.values(), ...others].flatMap(formsOf).join(" ");
  let answers = 0;
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const key = request.headers.authorization?.replace(/^Bearer /, "") ?? "";
      const handle = [...keys].find(([, one]) => one === key)?.[0] ?? "";
      const line = `${request.method} ${request.url}`;
      requests.push({ line, body });
      const wanted = parseJson(body);
      const sent = isObject(wanted) ? JSON.stringify([wanted["url"], wanted["secret"]]) : "";
      const id = decodeURIComponent(
        request.url
          ?.split("?")[0]
          ?.split("/")
          .find((part) => part.startsWith("post-")) ?? "",
      );
      const found = ROUTES.find(([fits]) => fits.test(line))?.[1]({ handle, id, sent, secrets: others });
      const { status, body: said } = found ?? { status: 404, body: { error: { code: `no-${KEY}`, message: NOISE } } };
      const [whole, escaped] = [formsOf(key)[1] ?? "", formsOf(key)[0] ?? ""];
      // The key lies across the 500th or the 1,000th character, where messages are cut.
      const cut = `${"y".repeat(answers++ % 2 === 0 ? 485 : 985)}${escaped}${"z".repeat(460)} ${NOISE}`;
      const text = (typeof said === "string" ? said : JSON.stringify(said))
        .replaceAll(CUT, () => cut)
        .replaceAll(NOISE, () => noise)
        .replaceAll(KEY, () => (answers % 2 === 0 ? whole : escaped));
      const printable = encodeURIComponent(key);
      response.writeHead(status, {
        "content-type": "application/json",
        ...(/posts(\?limit=\d+)?$/.test(line) ? { link: `<https://a.example/next?cursor=2&key=${printable}>; rel="next"` } : {}),
        "x-key": key,
        [`x-${Buffer.from(key).toString("hex")}`]: key,
        "x-ratelimit-remaining-hour": "9000",
        ...(status === 500 ? { "retry-after": key } : {}),
      });
      response.end(text);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) if (chunk instanceof Buffer) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
