/** `retinue agents` manages accounts with the Guardian's key: a key is issued once, so it is kept, or its loss is told. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { main } from "../../src/cli/main.ts";
import { systemClock } from "../../src/core/clock.ts";
import { createAnnouncer } from "../../src/core/events.ts";
import { asHandle } from "../../src/core/ids.ts";
import { createLogger } from "../../src/core/log.ts";
import { controlPath, serveControl } from "../../src/guardian/control-socket.ts";
import { createGuardian } from "../../src/guardian/guardian.ts";
import { projectOnNetwork } from "../harness/project-on-network.ts";
import { errorOf } from "../harness/store-project.ts";

const HERALD = "handle: herald\nname: The Herald\nbio: Tells the news\nskills: [news]\n";
const FILES = {
  "agents/herald.yaml": HERALD,
  "retinue.config.ts": 'export default { prices: { "agents.create": "free" } };\n',
};

async function onNetwork(files: { readonly [path: string]: string } = FILES, variables: { readonly [name: string]: string } = {}) {
  const given = await projectOnNetwork(files, variables);
  const guardianKey = given.network.guardianKey();
  given.env["RETINUE_GUARDIAN_KEY"] ??= guardianKey;
  const created = () => given.network.truth.effects({ operation: "agents.create" });
  return { ...given, guardianKey, created, keyFile: join(given.root, ".retinue/keys/herald") };
}

const create = ["agents", "create", "agents/herald.yaml"] as const;

describe("create", () => {
  test("keeps the key in a file of the owner alone, shows it nowhere, and the key works at once", async () => {
    const { run, network, keyFile, root } = await onNetwork();
    const made = await run(...create);
    expect(made).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^created herald as \S+; its key is in \.retinue\/keys\/herald/) as string,
    });
    const key = readFileSync(keyFile, "utf8").trim();
    expect(network.isKeyOf("herald", key)).toBe(true);
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    expect(made.stdout + made.stderr).not.toContain(key);
    const stored = readdirSync(join(root, ".retinue"), { withFileTypes: true }).filter((entry) => entry.isFile());
    expect(stored.filter(({ name }) => readFileSync(join(root, ".retinue", name)).includes(key))).toEqual([]);
    expect(await run("call", "posts.list", "--as", "herald")).toMatchObject({ code: 0 });
    const log = await run("log", "--store", "sqlite:.retinue/store-guardian.sqlite");
    expect(log.stdout).toMatch(/guardian created an agent: "herald"/);
    const orders = await run("log", "--orders", "--store", "sqlite:.retinue/store-guardian.sqlite");
    expect(orders.stdout).toMatch(new RegExp(`${userInfo().username}.*agents\\.create.*herald`));
    expect(log.stdout + log.stderr).not.toContain(key);
  });

  test("a second one of the same handle is refused before a request", async () => {
    const { run, json, network, created } = await onNetwork();
    network.provision({ handle: "herald", tier: "free", set: "b" });
    const { code, said } = await json(...create);
    expect([code, errorOf(said)["code"]]).toEqual([1, "agent_exists"]);
    expect(created()).toHaveLength(0);
    expect(await run(...create)).toMatchObject({ stderr: expect.stringContaining("retinue agents delete herald") as string });
  });

  test.each<[string, (at: Awaited<ReturnType<typeof onNetwork>>) => void, string]>([
    [
      "an existing file",
      ({ keyFile }) => {
        mkdirSync(join(keyFile, ".."));
        writeFileSync(keyFile, "sk_live_old");
      },
      "key_file_exists",
    ],
    ["a folder that cannot be made", ({ root }) => writeFileSync(join(root, ".retinue/keys"), ""), "key_file_unwritable"],
    ["a key in the environment", ({ env }) => void (env["RETINUE_KEY_HERALD"] = "sk_live_12345678"), "key_exists"],
    ["a folder that takes no file", ({ env }) => void (env["RETINUE_KEY_HERALD_FILE"] = "/proc/herald"), "key_file_unwritable"],
    ["no Guardian's key", ({ env }) => void (env["RETINUE_GUARDIAN_KEY"] = ""), "guardian_key_missing"],
    [
      "a file of the Guardian's key that is not there",
      ({ env }) => Object.assign(env, { RETINUE_GUARDIAN_KEY: "", RETINUE_GUARDIAN_KEY_FILE: "none.txt" }),
      "guardian_key_missing",
    ],
    ["a mistaken definition", ({ root }) => writeFileSync(join(root, "agents/herald.yaml"), "handle: [1]\n"), "definition_invalid"],
  ])("%s is found before the request", async (_name, arrange, code) => {
    const at = await onNetwork();
    arrange(at);
    const { code: exit, said } = await at.json(...create);
    expect([exit, errorOf(said)["code"]]).toEqual([2, code]);
    expect(at.network.find("herald")).toBeUndefined();
  });

  test("the key of a specialist or a dead one in place of the Guardian's is refused as such, and leaves no file", async () => {
    const { json, env, keyFile, network } = await onNetwork();
    env["RETINUE_GUARDIAN_KEY"] = "sk_live_0123456789abcdef";
    const { code, said } = await json(...create);
    expect([code, errorOf(said)["code"]]).toEqual([1, "guardian_key_refused"]);
    expect([network.find("herald"), existsSync(keyFile)]).toEqual([undefined, false]);
  });

  test("an unstated price never counts as free", async () => {
    const { json, keyFile, created } = await onNetwork({ "agents/herald.yaml": HERALD });
    const { code, said } = await json(...create);
    expect([code, errorOf(said)]).toMatchObject([1, { code: "price_unknown", hint: expect.stringContaining("prices: {") as string }]);
    expect([created().length, existsSync(keyFile)]).toEqual([0, false]);
  });

  test("a lost answer says that the agent may exist without its key, and what to do works", async () => {
    const { run, json, network, keyFile } = await onNetwork();
    network.faults.add({ match: { operation: "agents.create" }, fault: { kind: "lose-reply" }, times: 1 });
    const { code, said } = await json(...create);
    expect([code, errorOf(said)]).toMatchObject([
      1,
      {
        code: "answer_lost",
        message: expect.stringContaining("may have happened") as string,
        hint: expect.stringContaining("its key is lost") as string,
      },
    ]);
    expect(existsSync(keyFile)).toBe(false);
    expect((await run("agents", "list")).stdout).toMatch(/herald .* no\n/);
    expect(await run("agents", "delete", "herald", "--yes")).toMatchObject({ code: 0 });
    expect(network.find("herald")?.deleted ?? true).toBe(true);
    expect(await run(...create)).toMatchObject({ code: 0 });
  });

  test("a 429 says that it did not happen, and the next command waits as the network asked", async () => {
    const { run, json, network, keyFile } = await onNetwork();
    network.faults.add({
      match: { operation: "agents.create" },
      fault: { kind: "limited", dialect: "seconds", seconds: 90 },
      times: 1,
    });
    const { code, said } = await json(...create);
    expect([code, errorOf(said)["code"]]).toEqual([1, "limited"]);
    expect([network.find("herald"), existsSync(keyFile)]).toEqual([undefined, false]);
    const again = await json(...create);
    expect([again.code, errorOf(again.said)["code"]]).toEqual([1, "quota_waits"]);
    expect((await run(...create)).stderr).toMatch(/429|wait/);
  });

  test("a network that is down is told before anything is recorded", async () => {
    const { json, env } = await onNetwork();
    env["RETINUE_BASE_URL"] = "http://127.0.0.1:9/v1";
    const { code, said } = await json(...create);
    expect([code, errorOf(said)["code"]]).toEqual([1, "network_unreachable"]);
  });
});

test("a network of Set A is told to lack the operations", async () => {
  const { json } = await onNetwork();
  const { code, said } = await json("agents", "list", "--set", "a");
  expect([code, errorOf(said)["code"]]).toEqual([2, "operation_not_in_set"]);
  expect(errorOf(said)["message"]).toBe("Set A has no agents.create and no agents.delete");
});

describe("list", () => {
  test("shows hostile names of the network as text, and a long one cut", async () => {
    const { run, json, network } = await onNetwork();
    network.provision({ handle: "mallory", tier: "free", set: "b", name: `\u001B[2J\u202Eevil\n${"x".repeat(1_000_000)}` });
    const { code, stdout } = await run("agents", "list");
    expect(code).toBe(0);
    expect(stdout).toMatch(/\\u001b\[2J\\u202eevil\\n/);
    // oxlint-disable-next-line no-control-regex -- the promise is that none comes through
    expect(stdout).not.toMatch(/[\u001B\u202E]/);
    expect(stdout.length).toBeLessThan(10_000);
    expect(await json("agents", "list")).toMatchObject({ code: 0, said: { ok: true } });
  });
});

describe("update", () => {
  test("shows field, now and then, asks, and sends only what changes", async () => {
    const { run, json, network, root } = await onNetwork();
    await run(...create);
    writeFileSync(join(root, "agents/herald.yaml"), HERALD.replace("Tells the news", "Tells it all"));
    const asked = await run("agents", "update", "herald");
    expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") as string });
    expect(asked.stdout).toMatch(/bio\s+Tells the news\s+Tells it all/);
    expect(asked.stdout).not.toContain("The Herald");
    expect(network.find("herald")?.bio).toBe("Tells the news");
    const changes = [{ field: "bio", now: "Tells the news", next: "Tells it all" }];
    expect(await json("agents", "update", "agents/herald.yaml", "--yes")).toMatchObject({ code: 0, said: { ok: true, changes } });
    expect(network.find("herald")).toMatchObject({ bio: "Tells it all", name: "The Herald" });
    expect(await json("agents", "update", "herald")).toMatchObject({ code: 0, said: { ok: true, changes: [] } });
  });

  test("an agent that the network does not have is refused", async () => {
    const { json } = await onNetwork();
    const { code, said } = await json("agents", "update", "herald", "--yes");
    expect([code, errorOf(said)["code"]]).toEqual([1, "agent_unknown"]);
  });
});

describe("delete", () => {
  test("asks, ends the key, says what stays, and a new one of the handle can be created", async () => {
    const { run, json, network, keyFile } = await onNetwork();
    await run(...create);
    const key = readFileSync(keyFile, "utf8").trim();
    const asked = await json("agents", "delete", "herald");
    expect([asked.code, errorOf(asked.said)["code"]]).toEqual([2, "option_missing"]);
    expect(network.isKeyOf("herald", key)).toBe(true);
    const { code, stdout } = await run("agents", "delete", "herald", "--yes");
    expect(code).toBe(0);
    expect(stdout).toContain("its key file stays, and is of no use: .retinue/keys/herald");
    expect(network.isKeyOf("herald", key)).toBe(false);
    rmSync(keyFile);
    expect(await run(...create)).toMatchObject({ code: 0 });
  });

  test.each([
    ["heralt", 1, "nothing was deleted", true],
    ["herald", 0, "deleted herald", false],
  ])("at a terminal, %j typed ends with %i", async (typed, code, says, stays) => {
    const { run, root, env, network, keyFile } = await onNetwork();
    await run(...create);
    const key = readFileSync(keyFile, "utf8").trim();
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    let stdout = "";
    const write = (text: string): void => {
      stdout += text;
      if (text.startsWith("Type herald")) stdin.end(`${typed}\n`);
    };
    const stream = { isTTY: true, columns: 100, write };
    const around = { cwd: root, env: { ...env, NO_COLOR: "1" }, stdout: stream, stderr: stream, stdin: () => stdin };
    expect(await main(["agents", "delete", "herald"], around)).toBe(code);
    expect(stdout).toContain(says);
    expect(network.isKeyOf("herald", key)).toBe(stays);
  });

  test("refuses while the running process has unfinished actions of it", async () => {
    const may = "may: [posts.create]\nreview: [posts.create]\n";
    const { run, json, network, inStore, root } = await onNetwork({ ...FILES, "agents/herald.yaml": HERALD + may });
    await run(...create);
    const proposed = await run("call", "posts.create", "--as", "herald", "--input", '{"content": "Hello"}');
    expect(proposed.stdout).toContain("retinue approve");
    await inStore(async (store, now) => {
      await store.saveAccount(asHandle("herald"), network.find("herald")?.id ?? "", now);
      const path = controlPath(join(root, ".retinue/store.sqlite"));
      const guardian = createGuardian({ store, clock: systemClock() });
      const log = createLogger({ level: "error", now: () => 0, sink: () => undefined });
      const control = await serveControl({ path, guardianOf: () => guardian, announcer: createAnnouncer(), log, onStop: () => undefined });
      const { code, said } = await json("agents", "delete", "herald");
      expect([code, errorOf(said)["code"], errorOf(said)["message"]]).toEqual([
        1,
        "actions_unfinished",
        "herald has 1 action that is not finished",
      ]);
      expect(network.find("herald")?.deleted).not.toBe(true);
      expect(await run("agents", "delete", "herald", "--yes")).toMatchObject({ code: 0 });
      await control.close();
    });
  });
});
