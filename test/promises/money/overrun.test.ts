/** P2, money: the network takes more than was set aside. Real process, real network over HTTP, real commands. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { isObject, type JsonObject } from "../../../src/core/json.ts";
import { MICROS_PER_UNIT } from "../../../src/core/units.ts";
import { retinue } from "../../harness/cli.ts";
import { became, textIn } from "../../harness/process.ts";
import { runLab } from "../../harness/run-command.ts";

const REWARD = 4;
/** A fee on top of the reward, which the profile knows nothing of. */
const FEE = 1;

const PATRON = `
import { credits, defineSpecialist } from "retinue";
export default defineSpecialist({
  handle: "scout",
  tier: "pro",
  may: ["jobs.create"],
  spend: { perDay: credits(100) },
  schedules: {
    offer: {
      every: "1s",
      run: (act) => {
        const offered = Number(act.state["offered"] ?? 0);
        if (offered === 2) return;
        act.state = { offered: offered + 1 };
        act.createJob({ title: "A job " + offered, description: "Do it", reward: ${REWARD}, skills: [] });
      },
    },
  },
});
`;

test("a price above what was set aside is posted in full and freezes the account until somebody says why it may go on", async (context) => {
  const lab = await runLab(context, PATRON, {
    assume: { prices: { "jobs.create": FEE }, tellsCost: true },
    profile: { operations: { "jobs.create": { price: { input: "reward" }, charged: "cost.amount" } } },
  });
  const store = join(lab.root, "store.sqlite");
  const ask = async (...args: readonly string[]): Promise<{ readonly code: number | null; readonly said: JsonObject }> => {
    const env = { SUDO_USER: "ann" };
    const { code, stdout } = await retinue([...args, "--store", `sqlite:${store}`, "--json"], { cwd: lab.root, env });
    const said: unknown = JSON.parse(stdout);
    return { code, said: isObject(said) ? said : {} };
  };
  const run = lab.run();
  const first = textIn(await run.saying(became("confirmed", "jobs.create")), "id");
  const reason = `${first} cost ${REWARD + FEE} credits, with a hold of ${REWARD} credits`;
  await run.saying(({ type, rule }) => type === "wait" && rule === "spend_frozen");
  expect((await ask("status")).said).toMatchObject({
    frozen: [{ scope: "specialist:scout", currency: "credits", reason }],
    specialists: [{ money: [{ currency: "credits", postedMicros: (REWARD + FEE) * MICROS_PER_UNIT, heldMicros: 0 }] }],
  });
  const second = textIn(await run.saying((said) => became("ready", "jobs.create")(said) && said["id"] !== first), "id");
  const rule = {
    rule: "spend_frozen",
    message: `scout may spend no credits until you unfreeze it: ${reason}`,
    since: expect.any(Number),
  };
  const hint = "retinue unfreeze scout --reason '<what you found>'";
  expect((await ask("why", second)).said).toMatchObject({ state: "ready", reasons: [{ ...rule, lane: "act" }], hint });
  expect((await ask("why", "scout")).said).toMatchObject({ state: "waiting", reasons: [rule], hint });
  expect(lab.effects("jobs.create")).toHaveLength(1);

  expect(await ask("thaw", "scout")).toMatchObject({ code: 2, said: { error: { code: "reason_missing" } } });
  expect(await ask("thaw", "--reason", "the wrong one")).toMatchObject({
    code: 0,
    said: { message: "the shared account was not frozen; frozen: scout (credits)" },
  });
  expect(await ask("unfreeze", "scout", "--reason", "the fee is new")).toMatchObject({
    code: 0,
    said: { message: "scout may spend credits again" },
  });
  await run.saying(({ type, id, state }) => type === "intent" && id === second && state === "confirmed");
  run.kill("SIGTERM");
  expect((await run.ended).code).toBe(0);

  // Frozen once more, by the second job; and what our books say is what the network took.
  expect((await ask("status")).said).toMatchObject({ frozen: [{ reason: expect.stringContaining(second) }] });
  const db = new DatabaseSync(store, { readOnly: true });
  context.onTestFinished(() => db.close());
  const took = (lab.network.find("scout")?.spent.credits ?? 0) * MICROS_PER_UNIT;
  expect(took).toBe(2 * (REWARD + FEE) * MICROS_PER_UNIT);
  const sums = "SELECT scope, sum(held) AS held, sum(posted) AS posted FROM spend_entry GROUP BY scope ORDER BY scope";
  const rows = "SELECT scope, held, posted FROM spend_row WHERE span = 'total' ORDER BY scope";
  const books = [
    { scope: "guardian", held: 0, posted: took },
    { scope: "specialist:scout", held: 0, posted: took },
  ];
  for (const question of [sums, rows])
    expect(
      db
        .prepare(question)
        .all()
        .map((row) => ({ ...row })),
    ).toEqual(books);
  const words = db.prepare("SELECT kind, said_by, reason FROM spend_entry WHERE reason IS NOT NULL ORDER BY seq").all();
  expect(words.map((row) => ({ ...row }))).toEqual([
    { kind: "freeze", said_by: "retinue", reason },
    { kind: "thaw", said_by: "ann", reason: "the fee is new" },
    { kind: "freeze", said_by: "retinue", reason: expect.stringContaining(second) },
  ]);
});
