/** `retinue approve` and `reject`: a person reads all of what is sent before the answer, and the answer is for exactly that. */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, test, type TestContext } from "vitest";
import { main } from "../../src/cli/main.ts";
import { systemClock } from "../../src/core/clock.ts";
import { parseJson } from "../../src/core/json.ts";
import { seededRandom } from "../../src/core/random.ts";
import { MINUTE } from "../../src/core/units.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { folder } from "../harness/process.ts";
import { propose } from "../harness/proposed.ts";
import { inProcess, type Finished } from "../harness/cli.ts";

const COLUMNS = 60;
const END = "and this is the end of it, which is what was approved unseen";
const LINES = [...Array.from({ length: 60 }, (_, i) => `${i}. a line of a long reply`), END];
const WORDS = LINES.join("\n");

/** A store on which nothing runs, where one reply waits. */
async function desk(
  context: TestContext,
  { expiresInMs, content = WORDS }: { readonly expiresInMs?: number; readonly content?: string } = {},
) {
  const cwd = folder(context);
  const path = join(cwd, "store.sqlite");
  const clock = systemClock();
  const now = clock.now();
  const store = openSqliteStore({ path, clock, random: seededRandom(1) });
  await propose(store, { id: "i1", input: { content }, now, ...(expiresInMs === undefined ? {} : { expiresAt: now + expiresInMs }) });
  await store.close();
  const words = (args: readonly string[]): readonly string[] => [...args, "--store", `sqlite:${path}`];
  const sql = (statement: string): void => {
    const db = new DatabaseSync(path);
    db.exec(statement);
    db.close();
  };
  return {
    sql,
    ask: (...args: readonly string[]) => inProcess(words(args), { cwd }),
    said: async (...args: readonly string[]) => parseJson((await inProcess(words([...args, "--json"]), { cwd })).stdout),
    /** At a terminal: `answer` is typed once there is a question, undefined ends the input. */
    async atTerminal(args: readonly string[], answer: string | undefined, meanwhile: () => void = () => undefined): Promise<Finished> {
      const written = { stdout: "", stderr: "" };
      const stdin = Object.assign(new PassThrough(), { isTTY: true });
      const stream = (name: "stdout" | "stderr") => ({
        isTTY: true,
        columns: COLUMNS,
        write(text: string) {
          written[name] += text;
          if (!/^(?:Send exactly|Never send)/.test(text)) return;
          meanwhile();
          stdin.end(answer === undefined ? "" : `${answer}\n`);
        },
      });
      const code = await main(words(args), {
        cwd,
        env: { NO_COLOR: "1" },
        stdout: stream("stdout"),
        stderr: stream("stderr"),
        stdin: () => stdin,
      });
      return { code, ...written };
    },
    async state(): Promise<unknown> {
      const said = parseJson((await inProcess(words(["why", "i1", "--json"]), { cwd })).stdout);
      return said;
    },
  };
}

const WAITS = { state: "proposed" };
const READY = { state: "ready" };

test("shows all that is sent, its cost, its deadline and what led to it, before it asks", async (context) => {
  const { atTerminal, state } = await desk(context, { expiresInMs: 10 * MINUTE });
  const { code, stdout } = await atTerminal(["approve", "i1"], "y");
  expect(code).toBe(0);
  const [page = "", rest] = stdout.split("[y/N]");
  for (const line of LINES.slice(0, -1)) expect(page).toContain(`  │ ${line}\n`);
  expect(page).toContain("  │ and this is the end of it, which is what was approved \n  │ unseen\n");
  expect(page).toContain("scout wants to reply to post_7 (posts.reply, i1)");
  expect(page).toContain("at most 2 credits");
  expect(page).toMatch(/answer by {2}\d\d:\d\d:\d\d \(in (9m|10m)/);
  expect(page).toMatch(/post\.created by quill, .*post\.created:i1/);
  expect(page).toContain("  │ What is the\n  │ best approach?\n");
  expect(rest).toContain("approved: posts.reply of scout");
  expect(await state()).toMatchObject(READY);
});

test.for(["y", "Y", "yes", " YES "])("takes %j for a yes", async (answer, context) => {
  const { atTerminal, state } = await desk(context);
  expect((await atTerminal(["approve", "i1"], answer)).code).toBe(0);
  expect(await state()).toMatchObject(READY);
});

test.for(["", "n", "no", "yeah", "yes please", undefined])(
  "takes %j for no yes: nothing is approved, nothing rejected",
  async (answer, context) => {
    const { atTerminal, state } = await desk(context);
    const { code, stdout } = await atTerminal(["approve", "i1"], answer);
    expect(code).toBe(1);
    expect(stdout).toMatch(/not approved: it waits until .*retinue reject i1/);
    expect(await state()).toMatchObject(WAITS);
  },
);

test.for([
  ["y", 0, "rejected: posts.reply of scout", { state: "cancelled" }],
  ["", 1, "not rejected: it waits until ", WAITS],
] as const)("a rejection is asked about at a terminal, and %j answers it", async ([answer, exit, says, after], context) => {
  const { atTerminal, state } = await desk(context);
  const { code, stdout } = await atTerminal(["reject", "i1"], answer);
  const [page = "", rest] = stdout.split("Never send this as scout? [y/N]");
  expect(page).toContain("and this is the end of it");
  expect(rest).toContain(says);
  expect(code).toBe(exit);
  expect(await state()).toMatchObject(after);
});

test("a line of what is sent is never taken for one of ours, however long it is", async (context) => {
  const forged = "Send exactly this as scout, for at most 2 credits? [y/N]";
  const { atTerminal } = await desk(context, { content: `Hello.\n${forged}\n${" ".repeat(COLUMNS - 4)}${forged}` });
  const { stdout } = await atTerminal(["approve", "i1"], "n");
  const lines = stdout.split("\n");
  expect(lines.filter((line) => line.startsWith("Send exactly"))).toHaveLength(1);
  expect(lines.filter((line) => line.startsWith("  │ Send exactly"))).toHaveLength(2);
  expect(lines.filter((line) => line.startsWith("  │")).every((line) => line.length <= COLUMNS)).toBe(true);
});

/** Sentences as they were before a terminal's width broke them. */
const unwrapped = (text: string): string => text.replaceAll(/\n {12}/g, " ");

test("an action that changed while the person read is not approved, and the person reads the change", async (context) => {
  const { atTerminal, state, sql } = await desk(context);
  const raise = (): void => sql("UPDATE approval SET amount = 9000000");
  const { code, stderr } = await atTerminal(["approve", "i1"], "y", raise);
  expect(code).toBe(1);
  expect(unwrapped(stderr)).toContain(
    "error: i1 has changed since it was shown; it may now cost 9 credits\n  try       check it again: retinue approve i1\n",
  );
  expect(await state()).toMatchObject(WAITS);
});

test("an action that expired while the person read is not approved either", async (context) => {
  const { atTerminal, state, sql } = await desk(context);
  const { code, stderr } = await atTerminal(["approve", "i1"], "y", () => sql("UPDATE intent SET expires_at = created_at"));
  expect(code).toBe(1);
  expect(unwrapped(stderr)).toContain("error: i1 can no longer be answered: it expired without an answer, ");
  expect(await state()).toMatchObject({ state: "cancelled", approval: { over: { how: "expired" } } });
});

test("without a terminal nothing is approved unless it is said so, and what would be is shown", async (context) => {
  const { ask, state } = await desk(context);
  const { code, stdout, stderr } = await ask("approve", "i1");
  expect(code).toBe(2);
  expect(stdout).toContain(END);
  expect(stderr).toContain("expected  --yes, or --hash <hash>");
  expect(await state()).toMatchObject(WAITS);
  expect((await ask("approve", "i1", "--yes")).code).toBe(0);
  expect(await state()).toMatchObject(READY);
});

test("for machines it is one object: the hash of all that would be sent, and what was approved under it", async (context) => {
  const { ask, said, sql } = await desk(context);
  expect(await said("approve", "i1")).toMatchObject({ error: { code: "option_missing", hint: expect.stringContaining("approval.hash") } });
  const why = await said("why", "i1");
  expect(why).toMatchObject({ input: { content: WORDS }, approval: { hash: expect.stringMatching(/^[0-9a-f]{64}$/) } });
  const [waiting] = ((await said("status")) as { readonly approvals: readonly { readonly hash: string }[] }).approvals;
  const hash = waiting?.hash ?? "";
  expect(why).toMatchObject({ approval: { hash } });
  sql("UPDATE intent SET input = json_set(input, '$.content', 'Something else')");
  const stale = await ask("approve", "i1", "--hash", hash, "--yes", "--json");
  expect(stale.code).toBe(1);
  expect(parseJson(stale.stdout)).toMatchObject({
    error: { code: "changed_meanwhile", message: expect.stringContaining("it would send something else") },
  });
  expect((await ask("approve", "i1", "--hash", "0123")).code).toBe(2);
  expect(await said("approve", "i1", "--yes", "--reason", "fine")).toMatchObject({
    ok: true,
    id: "i1",
    input: { content: "Something else" },
    approval: { hash: expect.stringMatching(/^[0-9a-f]{64}$/), cost: { currency: "credits" } },
  });
});

test("an action that is over says how and when, to approve, reject and why", async (context) => {
  const { ask } = await desk(context);
  expect((await ask("reject", "i1", "--reason", "too long")).stdout).toContain(END);
  for (const order of [
    ["approve", "i1", "--yes"],
    ["reject", "i1"],
  ]) {
    const { code, stderr } = await ask(...order);
    expect(code).toBe(1);
    expect(stderr).toMatch(/i1 can no longer be answered: it was rejected: too long, \d\d:\d\d:\d\d \(.* ago\)\n.*retinue why i1/);
  }
  expect((await ask("why", "i1")).stdout).toMatch(/approval: it was rejected: too long, \d\d:\d\d:\d\d \(.* ago\)/);
  expect((await ask("status")).stdout).not.toContain("i1");
  for (const order of ["approve", "reject"])
    expect((await ask(order, "nowhere", "--yes")).stderr).toBe(
      'error: there is nothing called "nowhere"\n  try       retinue status lists those that wait\n',
    );
  expect((await ask("approve", "posts.create", "--yes")).stderr).toContain('"posts.create" needs no approval');
});

test("status lists what waits with its cost and the deadline that ends it", async (context) => {
  const { ask } = await desk(context, { expiresInMs: 9.5 * MINUTE });
  const { stdout } = await ask("status");
  expect(stdout).toMatch(/i1 +scout +posts\.reply +at most 2 +\d\d:\d\d:\d\d \(in +0\. a line/);
  expect(stdout).toMatch(/^specialist +tier +done +to do +asks .*\n(?: .*\n)*scout +- +0 +0 +1 /m);
  expect(stdout).toMatch(/post_7 +credits +9m \d\ds\)/);
});

test("the log is in the order of the times it shows, whenever the actions were sent", async (context) => {
  const { said, sql } = await desk(context);
  sql(`INSERT INTO intent (id, event_seq, specialist, operation, input, effect, lane, state, ordinal, conflict_key, hops, created_at, sent_at, next_at, last)
    SELECT 'i0', event_seq, specialist, operation, input, effect, lane, 'confirmed', ordinal, 'other', hops, created_at - 1, created_at + 5000, next_at, last
    FROM intent WHERE id = 'i1'`);
  const { entries } = (await said("log")) as { readonly entries: readonly { readonly id: string; readonly at: number }[] };
  expect(entries.map(({ id }) => id)).toEqual(["i1", "i0"]);
  expect(entries.map(({ at }) => at)).toEqual(entries.map(({ at }) => at).toSorted((a, b) => b - a));
});
