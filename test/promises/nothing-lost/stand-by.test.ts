/** Two processes on one server: one works and the other stands by, and takes over however the first one ends. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { inProcess } from "../../harness/cli.ts";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { folder } from "../../harness/process.ts";
import { runLab } from "../../harness/run-command.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 15 })), 60_000);
afterAll(() => server.stop());

/** Answers each post once. */
const SCOUT = `export default { handle: "scout", tier: "pro", may: ["posts.reply"], watch: { feed: { from: "start" } },
  on: { "post.created": (post, act) => { act.reply(post, "re " + post.id); } } };`;

test(
  "the next process takes over after a kill, an orderly end and a cut connection, and answers each post once",
  { timeout: 90_000 },
  async (context) => {
    const lab = await runLab(context, SCOUT);
    const store = await server.database();
    const begin = () => lab.run({ address: store });
    const replied = async (post: string): Promise<void> => {
      await expect.poll(() => lab.effects("posts.reply").filter(({ target }) => target === post).length, { timeout: 15_000 }).toBe(1);
    };
    const first = begin();
    await first.saying(({ type }) => type === "started");
    const second = begin();
    const told = await second.saying(({ type }) => type === "standby");
    expect(told["owner"]).toContain(String(first.pid));
    await replied(await lab.news("one"));

    first.kill("SIGKILL");
    await second.saying(({ type }) => type === "started");
    await replied(await lab.news("two"));

    const third = begin();
    await third.saying(({ type }) => type === "standby");
    second.kill("SIGTERM");
    expect((await second.ended).code).toBe(0);
    await third.saying(({ type }) => type === "started");
    await replied(await lab.news("three"));

    // Both lose their sessions and stay: one takes the store again by itself, and the other stands by.
    const fourth = begin();
    await fourth.saying(({ type }) => type === "standby");
    await server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'retinue%'");
    for (const process of [third, fourth])
      await process.saying(({ type, message }) => type === "log" && message === "nothing is sent until the store can be used again");
    await replied(await lab.news("four"));
    for (const process of [third, fourth]) process.kill("SIGTERM");
    await Promise.all([third.ended, fourth.ended]);
    expect(lab.network.truth.duplicates({ agent: "scout" })).toEqual([]);
  },
);

test(
  "commands ask the process on this machine; elsewhere they read the server, and an order names whom to ask",
  { timeout: 60_000 },
  async (context) => {
    const lab = await runLab(context, SCOUT);
    const address = await server.database();
    const ask = (cwd: string, ...args: readonly string[]) => inProcess([...args, "--store", address], { cwd });
    const elsewhere = folder(context);
    const early = await ask(elsewhere, "status");
    expect([early.code, early.stderr]).toEqual([2, expect.stringContaining("there is no store yet in the schema retinue of 127.0.0.1")]);

    const process = lab.run({ address });
    await process.saying(({ type }) => type === "started");
    expect(await ask(lab.root, "status")).toMatchObject({ code: 0, stdout: expect.stringContaining("Running") });
    const read = await ask(elsewhere, "status");
    expect([read.code, read.stdout]).toEqual([0, expect.stringContaining("Elsewhere another runtime has the store: ")]);
    expect(read.stdout).toContain("scout");
    expect(read.stderr).toContain(`another runtime has the store: `);
    const order = await ask(elsewhere, "halt", "--reason", "elsewhere");
    expect(order.code).toBe(1);
    expect(order.stderr).toContain(String(process.pid));
    expect(order.stderr).toContain("it goes on: give the order on its machine");
    expect((await ask(lab.root, "halt", "--reason", "from here")).code).toBe(0);
    process.kill("SIGTERM");
    await process.ended;

    const after = await ask(elsewhere, "status");
    expect([after.code, after.stdout]).toEqual([0, expect.stringContaining("from here")]);
    expect((await ask(elsewhere, "halt", "--lift")).code).toBe(0);
  },
);
