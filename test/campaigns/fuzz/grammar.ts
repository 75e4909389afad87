/** Raw requests as attackers, broken proxies and fuzzers write them: each a list of pieces, with pauses between some. */
import type { Random } from "../../../src/core/random.ts";
import { MAX_BODY_BYTES } from "../../../src/webhooks/receiver/http.ts";
import { DELIVERY_SCHEMES, signDelivery } from "../../../src/webhooks/receiver/sign.ts";

export interface RawRequest {
  readonly name: string;
  /** Written one after the other. */
  readonly pieces: readonly (Buffer | string)[];
  /** Waited between two pieces, in ms. Default 0. */
  readonly pauseMs?: number;
}

type Make = (random: Random, secret: string, now: number) => Omit<RawRequest, "name">;

const JSON_TYPE = "content-type: application/json\r\n";
const PATH = "/webhooks/scout";
const head = (lines: string, path = PATH, method = "POST"): string => `${method} ${path} HTTP/1.1\r\nhost: x\r\n${lines}\r\n`;
const plain = (body: Buffer | string, lines = JSON_TYPE): Buffer =>
  Buffer.concat([Buffer.from(head(`${lines}content-length: ${Buffer.byteLength(body)}\r\n`)), Buffer.from(body)]);
const upTo = (random: Random, max: number): number => Math.floor(max ** random.next());

/** A correctly signed request around any body, so that what is behind the signature is reached too. */
function signed(random: Random, secret: string, now: number, body: Buffer | string): Buffer {
  const scheme = random.pick(DELIVERY_SCHEMES.filter((one) => !["none", "path", "in-body"].includes(one)));
  const delivery = signDelivery({ scheme, secret, payload: body, id: `f_${random.word(12)}`, at: now });
  const lines = Object.entries(delivery.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return plain(delivery.body, lines.join(""));
}

function anyJson(random: Random, depth = 0): unknown {
  const leaf = random.int(depth > 4 ? 8 : 10);
  switch (leaf) {
    case 0:
      return null;
    case 1:
      return random.next() < 0.5;
    case 2:
      return random.pick([0, -0, 1e308, 5e-324, 2 ** 53 + 2, -1, 1.5]);
    case 3:
      return random.pick(["", "\ud800", "\u0000", "x".repeat(upTo(random, 5_000)), "@scout", "post_1", "💥", "\u202e"]);
    case 8:
      return Array.from({ length: random.int(5) }, () => anyJson(random, depth + 1));
    case 9:
      return Object.fromEntries(Array.from({ length: random.int(6) }, () => [random.pick(KEYS), anyJson(random, depth + 1)]));
    default:
      return random.word(random.int(20));
  }
}

const KEYS = [
  "id",
  "type",
  "data",
  "author",
  "content",
  "status",
  "constructor",
  "toString",
  "signature",
  "reply_to",
  "post_id",
  "reward",
  "votes",
  "assignee",
];
const KINDS = [
  "post.created",
  "post.liked",
  "post.replied",
  "job.assigned",
  "job.created",
  "mention",
  "follower.new",
  "approval.required",
  "approval.approved",
  "strange.kind",
  "",
];

export const GRAMMAR: { readonly [name: string]: Make } = {
  "header flood": (random) => ({ pieces: [head(`${JSON_TYPE}${"a: b\r\n".repeat(upTo(random, 4_000))}`)] }),
  "long header": (random) => ({ pieces: [head(`${JSON_TYPE}x: ${"y".repeat(upTo(random, 70_000))}\r\n`)] }),
  "length and chunks": () => ({
    pieces: [head(`${JSON_TYPE}content-length: 4\r\ntransfer-encoding: chunked\r\n`), "2\r\n{}\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n"],
  }),
  "two lengths": (random) => ({ pieces: [head(`${JSON_TYPE}content-length: 2\r\ncontent-length: ${random.int(9)}\r\n`), "{}"] }),
  "strange length": (random) => ({
    pieces: [
      head(`${JSON_TYPE}content-length: ${random.pick(["-1", "+2", "0x2", "2 2", "1e1", "99999999999999999999", "٢", "", "2;"])}\r\n`),
      "{}",
    ],
  }),
  "strange encoding": (random) => ({
    pieces: [
      head(
        `${JSON_TYPE}transfer-encoding: ${random.pick(["xchunked", "chunked, chunked", "gzip, chunked", "chunked;q=1", "\vchunked"])}\r\n`,
      ),
      "0\r\n\r\n",
    ],
  }),
  "bare line feeds": () => ({ pieces: [`POST ${PATH} HTTP/1.1\nhost: x\ncontent-type: application/json\ncontent-length: 2\n\n{}`] }),
  "bare returns": () => ({ pieces: [`POST ${PATH} HTTP/1.1\rhost: x\r\rcontent-length: 2\r\r{}`] }),
  "folded header": () => ({ pieces: [head(`${JSON_TYPE}x-signature:\r\n abc\r\n\tdef\r\ncontent-length: 2\r\n`), "{}"] }),
  "space before colon": () => ({ pieces: [head(`content-type : application/json\r\ncontent-length : 2\r\n`), "{}"] }),
  "nul in a header": () => ({ pieces: [head(`${JSON_TYPE}x-sig\0nature: a\0b\r\ncontent-length: 2\r\n`), "{}"] }),
  "chunk flood": (random) => ({
    pieces: [head(`${JSON_TYPE}transfer-encoding: chunked\r\n`), "1\r\n{\r\n".repeat(upTo(random, 3_000)), "0\r\n\r\n"],
  }),
  "chunk extensions": (random) => ({
    pieces: [head(`${JSON_TYPE}transfer-encoding: chunked\r\n`), `2;${"e".repeat(upTo(random, 40_000))}\r\n{}\r\n0\r\n\r\n`],
  }),
  "chunk sizes": (random) => ({
    pieces: [
      head(`${JSON_TYPE}transfer-encoding: chunked\r\n`),
      `${random.pick(["ffffffffffffffff", "-1", "zz", "", "0x2", "2\n"])}\r\n{}\r\n0\r\n\r\n`,
    ],
  }),
  trailers: (random) => ({
    pieces: [head(`${JSON_TYPE}transfer-encoding: chunked\r\n`), `2\r\n{}\r\n0\r\n${"x-signature: y\r\n".repeat(upTo(random, 500))}\r\n`],
  }),
  "deep json": (random, secret, now) => {
    const depth = upTo(random, 100_000);
    return { pieces: [signed(random, secret, now, `${'{"a":['.repeat(depth)}${"]}".repeat(depth)}`.slice(0, 250_000))] };
  },
  "deep json, unsigned": (random) => ({ pieces: [plain("[".repeat(upTo(random, 200_000)))] }),
  prototypes: (random, secret, now) => ({
    pieces: [
      signed(
        random,
        secret,
        now,
        `{"id":"${random.word(8)}","type":"mention","__proto__":{"polluted":1},"data":{"constructor":{"prototype":{"polluted":1}},"__proto__":{"id":"x"}}}`,
      ),
    ],
  }),
  "byte order mark": (random, secret, now) => ({
    pieces: [signed(random, secret, now, `\ufeff{"id":"${random.word(8)}","type":"post.created"}`)],
  }),
  surrogates: (random, secret, now) => ({
    pieces: [signed(random, secret, now, `{"id":"${random.word(8)}","type":"mention","data":{"id":"p","content":"\\ud800 \\udfff"}}`)],
  }),
  "no utf-8": (random, secret, now) => ({
    pieces: [signed(random, secret, now, Buffer.from(Array.from({ length: upTo(random, 2_000) }, () => random.int(256))))],
  }),
  "numbers and repeats": (random, secret, now) => ({
    pieces: [
      signed(
        random,
        secret,
        now,
        `{"id":${random.pick(["1e400", "9007199254740993", "-0", "00"])},"id":"${random.word(6)}","type":"follower.new","type":"x"}`,
      ),
    ],
  }),
  "any json, signed": (random, secret, now) => ({
    pieces: [signed(random, secret, now, JSON.stringify({ id: random.word(8), type: random.pick(KINDS), data: anyJson(random) }))],
  }),
  "too large": (random) => ({
    pieces: [head(`${JSON_TYPE}content-length: ${262_145 + random.int(10_000_000)}\r\n`), "x".repeat(upTo(random, 400_000))],
  }),
  "too large, by chunks": (random) => ({
    pieces: [
      head(`${JSON_TYPE}transfer-encoding: chunked\r\n`),
      ...Array.from({ length: 5 + random.int(3) }, () => `10000\r\n${"x".repeat(65_536)}\r\n`),
    ],
  }),
  "slow body": (random) => ({
    pieces: [head(`${JSON_TYPE}content-length: 50\r\n`), "{", '"a"', ":", "1", "}"],
    pauseMs: 20 + random.int(100),
  }),
  "slow head": (random) => ({
    pieces: [...(`POST ${PATH} HTTP/1.1\r\nhost: x\r\n`.match(/.{1,9}/gs) ?? [])],
    pauseMs: 10 + random.int(40),
  }),
  "cut off": (random) => ({ pieces: [plain('{"a":1}').subarray(0, random.int(110))] }),
  methods: (random) => ({
    pieces: [
      head(
        `${JSON_TYPE}content-length: 2\r\n`,
        PATH,
        random.pick(["GET", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "CONNECT", "PATCH", "post", "FOO"]),
      ),
      "{}",
    ],
  }),
  paths: (random) => ({
    pieces: [
      head(
        `${JSON_TYPE}content-length: 2\r\n`,
        random.pick([
          "/",
          "//",
          "/webhooks/",
          "/webhooks/nobody",
          "/webhooks/%00",
          "/webhooks/%zz",
          "/webhooks/../scout",
          `/webhooks/${"a".repeat(upTo(random, 9_000))}`,
          "/webhooks/scout/a/b",
          "/webhooks/__proto__",
          "/webhooks/constructor",
          "*",
          "http://x/webhooks/scout",
          "/webhooks/scout?a=b#c",
        ]),
      ),
      "{}",
    ],
  }),
  types: (random) => ({
    pieces: [
      plain(
        "{}",
        random.pick([
          "",
          "content-type: text/plain\r\n",
          "content-type: application/json;charset=utf-16\r\n",
          "content-type: application/vnd.x+json\r\n",
          "content-type: a/b/c\r\n",
          `content-type: application/${"a+".repeat(upTo(random, 4_000))}json\r\n`,
          "content-type: application/x-www-form-urlencoded\r\n",
          "content-type: application/json\r\ncontent-encoding: gzip\r\n",
        ]),
      ),
    ],
  }),
  "forged signatures": (random) => {
    const value = random.pick([
      "",
      "sha256=",
      `sha256=${random.word(64)}`,
      `sha256=${"0".repeat(64)}`,
      `v1,${"A".repeat(43)}=`,
      "v1,",
      "t=1,v1=",
      `t=1e9,v1=${"0".repeat(64)}`,
      "v1,a ".repeat(500),
      ",".repeat(3_000),
    ]);
    const name = random.pick(["x-signature-256", "webhook-signature", "x-hub-signature-256", "stripe-signature", "x-signature"]);
    return {
      pieces: [
        plain(
          '{"id":"1"}',
          `${JSON_TYPE}${name}: ${value}\r\nwebhook-id: ${random.word(9)}\r\nwebhook-timestamp: ${random.pick(["0", "x", "-5", "1e9", "99999999999999"])}\r\n`,
        ),
      ],
    };
  },
  "forged in the body": (random) => ({
    pieces: [
      plain(
        JSON.stringify({
          id: "1",
          signature: random.pick(["", "0".repeat(64), "sha256=x", 5, null, {}]),
          a: '"signature":"'.repeat(upTo(random, 4_000)),
        }),
      ),
    ],
  }),
  "a signature of any length": (random) => ({
    pieces: [
      plain(
        JSON.stringify({
          type: random.pick(KINDS),
          signature: random.pick(["a", "0", "(a+)+$", "\\", "\u0001", "\ud800", "sha256="]).repeat(upTo(random, 60_000)).slice(0, 260_000),
          id: random.word(8),
        }).slice(0, MAX_BODY_BYTES),
      ),
    ],
  }),
  "signatures as many as fit": (random) => {
    const member = `"signature"${" ".repeat(upTo(random, 120))}:${" ".repeat(upTo(random, 120))}"${"0".repeat(64)}"`;
    const text = `{${random.next() < 0.5 ? "" : '"a":1,'}${`${member},`.repeat(upTo(random, Math.floor(200_000 / member.length)))}"signature":`;
    return { pieces: [plain(`${text}${random.pick([`"${"0".repeat(64)}"`, `"${"0".repeat(44)}"`, "null"])}}`)] };
  },
  "broad json, unsigned": (random) => {
    const count = upTo(random, 20_000);
    const members = Array.from({ length: count }, (_, i) => `"${random.pick(["k", "__proto__", "\\u005f_proto__", "4294967"])}${i}":0`);
    const name = random.pick(["a", "__proto__", "\\u005f_proto__"]);
    return {
      pieces: [plain(`{"${name}":[0${",0".repeat(count)}],${members.join(",")},"signature":"${"0".repeat(64)}"}`.slice(0, MAX_BODY_BYTES))],
    };
  },
  "names of any length, unsigned": (random) => ({
    pieces: [plain(`{"${"n".repeat(upTo(random, 250_000))}":{"type":"x"},"signature":"${"0".repeat(64)}"}`)],
  }),
  "no host": () => ({ pieces: [`POST ${PATH} HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}`] }),
  "no http": (random) => ({
    pieces: [
      random.pick([
        Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET /\r\n",
        "\r\n".repeat(500),
        Buffer.from(Array.from({ length: 300 }, () => random.int(256))),
      ]),
    ],
  }),
  "expect and upgrade": (random) => ({
    pieces: [
      plain(
        "{}",
        `${JSON_TYPE}${random.pick(["expect: 100-continue", "expect: magic", "connection: upgrade\r\nupgrade: websocket", "upgrade: h2c\r\nconnection: upgrade, http2-settings"])}\r\n`,
      ),
    ],
  }),
  pipelined: (random, secret, now) => ({
    pieces: [
      Buffer.concat(
        Array.from({ length: 1 + random.int(8) }, () => signed(random, secret, now, `{"id":"${random.word(9)}","type":"mention"}`)),
      ),
    ],
  }),
  mutated: (random, secret, now) => {
    const whole = Buffer.from(signed(random, secret, now, JSON.stringify({ id: random.word(9), type: "mention", data: { id: "p" } })));
    for (let i = random.int(6); i >= 0; i--) whole[random.int(whole.length)] = random.int(256);
    return { pieces: [whole.subarray(random.int(2) * random.int(20)), random.next() < 0.2 ? whole : ""] };
  },
};

/** Signed as they should be, whatever they carry. */
export const RIGHTLY_SIGNED: readonly string[] = [
  "deep json",
  "prototypes",
  "byte order mark",
  "surrogates",
  "no utf-8",
  "numbers and repeats",
  "any json, signed",
  "pipelined",
];
/** What is broken of it may be what no signature covers. */
export const PERHAPS_SIGNED: readonly string[] = ["mutated"];
/** Some of them never end, so that nobody can answer them; whoever sends them need not wait. */
export const UNENDING: readonly string[] = ["slow head", "slow body", "cut off", "no http", "chunk sizes", "methods", "mutated"];

/** Slow ones are rare, or sending would take as long as they wait. */
const RARE: readonly string[] = ["slow body", "slow head", "too large", "too large, by chunks"];
const NAMES = Object.keys(GRAMMAR);

export function anyRequest(random: Random, secret: string, now: number): RawRequest {
  let name = random.pick(NAMES);
  if (RARE.includes(name) && random.next() < 0.8) name = "mutated";
  const make = GRAMMAR[name];
  if (make === undefined) throw new Error(`no such request: ${name}`);
  return { name, ...make(random, secret, now) };
}
