/** Two processes on one server: one works and the other stands by, and takes over however the first one ends. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
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

    // It loses its session and stays: it takes the store again by itself.
    await server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'retinue%'");
    await third.saying(({ type, message }) => type === "log" && message === "nothing is sent until the store can be used again");
    await replied(await lab.news("four"));
    third.kill("SIGTERM");
    expect((await third.ended).code).toBe(0);
    expect(lab.network.truth.duplicates({ agent: "scout" })).toEqual([]);
  },
);
