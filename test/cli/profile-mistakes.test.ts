/** `retinue check` on profiles that cannot work: each is refused with file and line and words a stranger understands. */
import { describe, expect, test } from "vitest";
import { project } from "../harness/project.ts";
import { inProcess, retinue } from "../harness/cli.ts";

/** What is wrong, the file's text, the line, and what has to be said. */
type Mistake = readonly [name: string, text: string, line: number, ...says: string[]];

const YAML: readonly Mistake[] = [
  ["a path parameter without source", op("posts.reply", 'path: "/v1/posts/{id}/in/{room}"'), 3, "posts.reply", 'the path parameter "room"'],
  ["an unknown operation", op("posts.replly", "path: /x"), 3, 'no operation "posts.replly"', 'did you mean "posts.reply"?'],
  [
    "two candidates that conflict",
    "extends: set-b\nrecords:\n  post:\n    content: [text]\n    community: [text]\n",
    5,
    '"text" is also a candidate of post.content',
  ],
  ["a template of a missing field", op("posts.create", 'body: { t: "{headline}", c: "{content}" }'), 3, '"{headline}"', "it has content"],
  ["a template that drops what is needed", op("posts.reply", "body: { text: hi }"), 3, 'never sends "{content}"'],
  ["a template with a bracket missing", op("posts.create", 'body: { text: "{content" }'), 3, 'never sends "{content}"'],
  ["an action without its object", op("posts.reply", "path: /v1/replies"), 3, "the post acted on"],
  ["pages of what is no list", op("posts.get", "paging: { style: page }"), 3, "expected a list; posts.get answers with one post"],
  ["a key in an address", "extends: set-a\noperations:\n  auth.token: { path: '/t/{key}' }\n", 3, "the key in a header or the body"],
  ["a key in another body", op("posts.create", 'body: { c: "{content}", k: "{key}" }'), 3, '"{key}"', "no input of posts.create"],
  ["a body in a GET", op("posts.list", "body: { a: 1 }"), 3, "no body with GET"],
  ["words for an input there is not", op("posts.vote", "values: { dir: { up: 1 } }"), 3, '"dir"', "it has direction"],
  ["a price by an input there is not", op("posts.create", "price: { input: reward }"), 3, '"reward"', "no input of posts.create"],
  [
    "an input of another type than ours",
    op("posts.create", "input: { content: { type: number } }"),
    3,
    '"content"',
    "another type than number",
  ],
  ["an action declared a read", op("posts.create", "effect: read"), 3, "posts.create changes something"],
  ["a wrong type", "extends: set-b\npaging:\n  maxLimit: many\n", 3, "paging.maxLimit", 'expected a number, got "many"'],
  ["an unknown key", "extends: set-b\nopertions: {}\n", 2, "opertions", 'did you mean "operations"?'],
  ["an unknown key of an operation", op("posts.list", "pth: /x"), 3, 'did you mean "path"?'],
  ["an unknown record", "extends: set-b\nrecords:\n  posts: { content: a }\n", 3, 'did you mean "post"?'],
  ["an unknown field", "extends: set-b\nrecords:\n  post: { contnt: a }\n", 3, 'did you mean "content"?'],
  ["an unknown parent", "name: x\nextends: set-c\n", 2, 'expected one of set-a, set-b, got "set-c"'],
  ["a parent that is a file, itself for one", "extends: p.yaml\n", 1, 'expected one of set-a, set-b, got "p.yaml"'],
  ["no parent", "name: x\n", 1, "extends is missing", "one of set-a, set-b"],
  ["a tab for indentation", "extends: set-b\npaging:\n\tstyle: page\n", 3, "Tabs are not allowed"],
  ["a key that appears twice", "extends: set-b\nname: a\nname: b\n", 3, 'the key "name" appears twice'],
  ["a list for the whole", "- a\n", 1, "expected keys with values, got a list"],
  ["a section without anything in it", "extends: set-b\noperations:\n", 2, "operations: expected keys with values, got null"],
  ["a place that is a number", "extends: set-b\nrecords:\n  post: { content: 5 }\n", 3, "expected a text, or a list, got 5"],
  ["a list of places with a number", "extends: set-b\nrecords:\n  post: { content: [a, 5] }\n", 3, "expected a text"],
  [
    "a query parameter that is a list",
    op("posts.list", "query: { sort: [new] }"),
    3,
    "expected a text, or a number, or true or false, got a list",
  ],
  ["a reason that is a number", op("posts.list", "unsupported: 5"), 3, "expected true or false, or a text, got 5"],
  ["a duration that is a list", "extends: set-b\ntiming: { deadlineMs: [1] }\n", 2, "expected a number, or a text, got a list"],
  ["a header without a name", "extends: set-b\nheaders: { 'a b': c }\n", 2, "the name of a header"],
  [
    "a body that is no JSON",
    "extends: set-b\noperations: { posts.create: { body: .nan } }\n",
    2,
    "expected a text, or a number, or",
    "got NaN",
  ],
  [
    "a trade without an operation for it",
    "extends: set-b\nauth: { exchange: true }\n",
    2,
    "auth.exchange",
    "auth.token",
    "state its method and path",
  ],
  [
    "tokens renewed before they are used",
    "extends: set-a\nauth: { exchange: true, tokenLifetimeMs: 1m, refreshEarlyMs: 1m }\n",
    2,
    "auth.refreshEarlyMs",
    "before it is used",
  ],
  [
    "one word for an event and a decision",
    "extends: set-b\nwebhooks: { kinds: { approval.granted: post.created } }\n",
    2,
    '"approval.granted" is also a word for a decision',
  ],
  [
    "a limit on what is not there",
    "extends: set-b\noperations: { posts.create: { unsupported: true } }\nlimits: [{ name: x, operations: [posts.create], max: 1, per: 1h }]\n",
    3,
    "limits",
    "posts.create",
    "unsupported",
  ],
  [
    "one header for two purposes",
    "extends: set-b\nheaders: { x-request-id: a }\nidempotencyHeader: x-request-id\n",
    3,
    "idempotencyHeader",
    "headers",
  ],
  ["a path that climbs out in disguise", op("posts.create", "path: /v1/%2e%2E/admin"), 3, "a path under the base address"],
  ["a path with half of an escape", op("posts.create", "path: /v1/%2/x"), 3, "a path under the base address"],
  ["a meaning of every answer", "extends: set-b\nanswers:\n  - { means: wait }\n", 3, "answers[0]", "a status, a code or a text to match"],
  ["an unknown meaning", "extends: set-b\nanswers:\n  - { status: 409, means: don }\n", 3, 'did you mean "done"?'],
  [
    "a meaning for an operation there is not",
    "extends: set-b\nanswers:\n  - { status: 409, operations: [posts.crate], means: done }\n",
    3,
    'did you mean "posts.create"?',
  ],
  ["a limit of 0", limit("max: 0, per: 30m"), 3, "limits[0].max: expected a whole number, 1 or more, got 0", "unsupported"],
  ["a limit over no time", limit("max: 1, per: 0s"), 3, "limits[0].per: expected a duration longer than 0"],
  ["a negative limit", limit("max: -1, per: 1h"), 3, "1 or more, got -1"],
  ["a duration that is none", limit("max: 1, per: soon"), 3, 'expected a duration such as "90s"', 'got "soon"'],
  ["a limit on an operation there is not", limit("max: 1, per: 1h", "posts.crate"), 3, '"posts.crate"', 'did you mean "posts.create"?'],
  ["a negative price", op("posts.create", "price: { micros: -5 }"), 3, "price.micros: expected at least 0, got -5"],
  ["a price that is a word", op("posts.create", "price: fre"), 3, '"free"', "{ micros: 250000 }", 'got "fre"'],
  ["an address for a path", op("posts.create", 'path: "https://other.example/x"'), 3, "a path under the base address", "no host"],
  ["a host in a path", op("posts.create", "path: //other.example/x"), 3, "a path under the base address"],
  ["a path that climbs out", op("posts.create", "path: /v1/../admin"), 3, "a path under the base address"],
  [
    "the same in an operation of the network's own",
    'extends: set-b\nextra:\n  x.y: { method: POST, effect: idempotent, path: "/x?y=1" }\n',
    3,
    "a path under",
  ],
  ["an unknown method", op("posts.create", "method: PSOT"), 3, "one of GET, POST, PATCH, PUT, DELETE", 'did you mean "POST"?'],
  ["an unknown effect", op("posts.create", "effect: at-mostonce"), 3, 'did you mean "at-most-once"?'],
  ["an unknown scheme", "extends: set-b\nwebhooks:\n  scheme: standrd\n", 3, "webhooks.scheme", 'did you mean "standard"?'],
  ["an unknown kind of event", "extends: set-b\nwebhooks:\n  kinds: { c: reply.craeted }\n", 3, 'did you mean "reply.created"?'],
  ["an unknown policy", "extends: set-b\ndrift: halt\n", 2, "drift: expected one of note, slow, stop"],
  ["an unknown paging style", "extends: set-b\npaging: { style: pages }\n", 2, 'did you mean "page"?'],
  ["a word for two states", "extends: set-b\nstatuses: { open: [up], assigned: [up] }\n", 2, '"up" is also the word for open'],
  ["an unknown tier", "extends: set-b\ntiers: { fre: { perHour: 1 } }\n", 2, 'no tier "fre"', 'did you mean "free"?'],
  ["a tier without requests", "extends: set-b\ntiers: { free: { perHour: 0 } }\n", 2, "expected more than 0, got 0"],
  [
    "a tier that lacks what there is not",
    "extends: set-b\ntiers: { free: { lacks: [posts.fly] } }\n",
    2,
    '"posts.fly" is not an operation',
  ],
  ["a name for a header that is none", 'extends: set-b\nauth: { header: "x api key" }\n', 2, "the name of a header"],
  ["a header with a line break", 'extends: set-b\nheaders: { x-a: "a\\r\\nb: c" }\n', 2, "text without line breaks"],
  ["a second home for the key", "extends: set-b\nheaders: { Authorization: x }\n", 2, "auth.header, which carries the key"],
  ["a header that is set anyway", "extends: set-b\nidempotencyHeader: host\n", 2, "a header that every request sets"],
  ["a field path that is none", "extends: set-b\nrecords:\n  post: { content: a..b }\n", 3, 'a path such as "author.handle"'],
  ["an own operation without method", "extends: set-b\nextra:\n  x.y: { path: /x, effect: idempotent }\n", 3, "method is missing"],
  ["an own operation with a name that is none", own("pin"), 3, 'expected a name such as "bids.withdraw", got "pin"'],
  ["an own operation with a name of ours", own("posts.reply"), 3, "override it under operations"],
  ["no time to answer in", "extends: set-b\ntiming: { deadlineMs: 0 }\n", 2, "a duration longer than 0"],
  ["a refusal's status for pending", "extends: set-b\npending: { statuses: [404] }\n", 2, "expected at most 299, got 404"],
  ["a guess about nothing", "extends: set-b\nguesses: [records.pots.id]\n", 2, "not a path in a profile", 'did you mean "post"?'],
];

const OTHERS: readonly (readonly [name: string, file: string, text: string, line: number | undefined, ...says: string[]])[] = [
  ["JSON with a comma too many", "p.json", '{\n  "extends": "set-b",\n}\n', 3, "is not JSON"],
  ["TypeScript that throws", "p.ts", "\n\nthrow new Error('boom');\n", 3, "it threw while it was loaded: boom", "a profile is data"],
  ["TypeScript with a syntax error", "p.ts", "\nexport default { extends: 'set-b'\n", 2, "syntax error"],
  ["TypeScript without a default", "p.ts", "export const profile = {};\n", undefined, "no default export", "export default {"],
  ["a function by default", "p.ts", "export default () => ({});\n", undefined, "a function, not a profile"],
  ["a promise by default", "p.ts", "export default Promise.resolve({});\n", undefined, "a promise", "await it"],
  ["a mistake in TypeScript", "p.ts", "export default { extends: 'set-b', drift: 'nte' };\n", undefined, 'did you mean "note"?'],
  ["an empty file", "p.yaml", "", undefined, "expected keys with values, got null"],
  ["a format that no profile has", "p.toml", "extends = 'set-b'\n", undefined, "not a file type that a profile can be read from", ".yaml"],
  ["a file that is somewhere else", "other.yaml", "", undefined, "there is no such profile", "set-a, set-b, or the path"],
];

function op(name: string, says: string): string {
  return `extends: set-b\noperations:\n  ${name}: { ${says} }\n`;
}

function limit(says: string, operation = "posts.create"): string {
  return `extends: set-b\nlimits:\n  - { name: one, operations: [${operation}], ${says} }\n`;
}

function own(name: string): string {
  return `extends: set-b\nextra:\n  ${name}: { method: POST, path: /x, effect: idempotent }\n`;
}

const agents = { "agents/scout.yaml": "handle: scout\nmay: [posts.reply]\n" };

describe("a profile with", () => {
  test.each(YAML.map(([name, text, line, ...says]) => ({ name, text, line, says })))("$name is refused", async ({ text, line, says }) => {
    const { root } = project({ ...agents, "p.yaml": text });
    const { code, stderr, stdout } = await inProcess(["check", "--profile", "p.yaml", "--no-keys"], { cwd: root });
    expect(code, stdout).toBe(2);
    expect(stderr).toContain(`p.yaml:${line}\n`);
    for (const one of says) expect(stderr).toContain(one);
    // In the words of this project, not of a library.
    expect(stderr).not.toMatch(/Invalid|Too (?:small|big)|undefined|\[object/);
  });

  test.each(OTHERS.map(([name, file, text, line, ...says]) => ({ name, file, text, line, says })))(
    "$name is refused",
    async ({ file, text, line, says }) => {
      const { root } = project({ ...agents, [file]: text });
      const profile = file === "other.yaml" ? "p.yaml" : file;
      const { code, stderr } = await retinue(["check", "--profile", profile, "--no-keys"], { cwd: root });
      expect(code, stderr).toBe(2);
      expect(stderr).toMatch(line === undefined ? profile : new RegExp(`${profile}:${line}(?::\\d+)?\n`));
      for (const one of says) expect(stderr).toContain(one);
    },
  );
});

test("all mistakes of a profile are named at once, for machines too", async () => {
  const { root } = project({ ...agents, "p.yaml": "extends: set-b\ndrift: halt\nopertions: {}\ntimes: unix\n" });
  const { stdout, code } = await inProcess(["check", "--profile", "p.yaml", "--no-keys", "--json"], { cwd: root });
  expect(code).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({
    ok: false,
    error: { code: "profile_invalid", line: 4 },
    problems: [{ line: 4 }, { line: 2 }, { line: 3, code: "key_unknown" }],
  });
});
