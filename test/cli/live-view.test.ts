/** The live view of a whole command on a terminal: the page it names lets one in, and `--plain` keeps to lines. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, type TestContext } from "vitest";
import { main } from "../../src/cli/main.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import { seededRandom } from "../../src/core/random.ts";
import { systemClock } from "../../src/core/clock.ts";
import { folder } from "../harness/process.ts";

const SCOUT = `
import { defineSpecialist } from "retinue";
export default defineSpecialist({
  handle: "scout",
  tier: "pro",
  watch: { feed: { from: "start" } },
  may: ["posts.reply"],
  on: { "post.created": (post, act) => void act.reply(post, "I read " + post.id) },
});
`;

const ENTERED = "\u001B[?1049h";
const LEFT = "\u001B[?1049l";

interface Shown {
  readonly all: () => string;
  /** Waits until the terminal shows a text, and gives what stands in its groups. */
  readonly shows: (pattern: RegExp) => Promise<readonly string[]>;
  /** Asks it to end, and waits until it has. */
  readonly end: () => Promise<number>;
}

/** A command on a terminal of 80 columns, in this process. */
function onTerminal(args: readonly string[], cwd: string, env: { readonly [name: string]: string } = {}): Shown {
  let text = "";
  const waiting = new Set<() => void>();
  const stdout = {
    isTTY: true,
    columns: 80,
    rows: 24,
    write(more: string) {
      text += more;
      for (const look of waiting) look();
    },
  };
  const shows = (pattern: RegExp): Promise<readonly string[]> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = pattern.exec(text);
        if (found === null) return;
        waiting.delete(look);
        resolve([...found]);
      };
      waiting.add(look);
      look();
    });
  const ended = main(args, { cwd, env, stdout, stderr: stdout });
  const end = (): Promise<number> => {
    process.emit("SIGHUP", "SIGHUP");
    return ended;
  };
  return { all: () => text, shows, end };
}

function projectOf(context: TestContext): string {
  const cwd = folder(context);
  mkdirSync(join(cwd, "agents"));
  writeFileSync(join(cwd, "agents/scout.ts"), SCOUT);
  return cwd;
}

test("the demo's view names the console first and then the network's page, and each token logs in at its own", async (context) => {
  const demo = onTerminal(["demo"], projectOf(context));
  await demo.shows(/\[\?1049h/);
  // oxlint-disable-next-line no-control-regex -- the line ends in a control sequence
  const [, page = "", token = ""] = await demo.shows(/\[H[^]*?My Agents\s+(http:\S+)  log in: ([\w-]+)\u001B\[K/);
  const answer = await fetch(`${page}/login`, { method: "POST", body: new URLSearchParams({ token }), redirect: "manual" });
  expect([answer.status, answer.headers.get("set-cookie")]).toEqual([303, expect.stringContaining("HttpOnly")]);
  // oxlint-disable-next-line no-control-regex -- the line ends in a control sequence
  const [, desk = "", own = ""] = await demo.shows(/\[H[^]*?Console\s+(http:\S+)  log in: the token ([\w-]+)\u001B\[K\r\nMy Agents/);
  const headers = { "content-type": "application/json", origin: desk };
  const inside = await fetch(`${desk}/api/session`, { method: "POST", headers, body: JSON.stringify({ token: own }) });
  expect([inside.status, await inside.json()]).toEqual([200, expect.objectContaining({ who: "guardian", role: "act" })]);
  expect(await demo.end()).toBe(0);
});

test("run has the view on a terminal, with what was done; lines with --plain and in a dry run", async (context) => {
  const cwd = projectOf(context);
  const network = createLocalNetwork({ clock: systemClock(), random: seededRandom(7), residents: { already: { post: 3 } }, scale: 0.05 });
  const listening = await network.listen({ set: "b" });
  context.onTestFinished(async () => {
    await listening.close();
    await network.stop();
  });
  const env = {
    RETINUE_KEY_SCOUT: network.provision({ handle: "scout", tier: "pro", set: "b" }).key,
    RETINUE_BASE_URL: listening.baseUrls.b ?? "",
  };
  network.start();

  const dry = onTerminal(["run", "--dry-run"], cwd, env);
  await dry.shows(/would reply to (\S+): "I read \1"/);
  expect(await dry.end()).toBe(0);
  expect(dry.all()).not.toContain(ENTERED);

  const view = onTerminal(["run"], cwd, env);
  await view.shows(/Done: \d+ × posts\.reply/);
  expect(await view.end()).toBe(0);
  expect(view.all().indexOf(LEFT)).toBeGreaterThan(view.all().indexOf(ENTERED));
  expect(view.all().slice(view.all().indexOf(LEFT))).toMatch(/specialist +tier/);

  const plain = onTerminal(["run", "--plain"], cwd, env);
  await plain.shows(/replied to/);
  expect(await plain.end()).toBe(0);
  expect(plain.all()).not.toContain(ENTERED);
});
