/** The unit and the Dockerfile in docs/deploy agree with the code: exit codes, times, versions, ports, paths, and no secret in a layer. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { loadConfig } from "../../src/config/config.ts";
import { storeFile } from "../../src/config/store-address.ts";
import { EXIT } from "../../src/cli/command.ts";
import { isObject, parseJson } from "../../src/core/json.ts";
import { SECOND } from "../../src/core/units.ts";
import { textIn } from "../harness/process.ts";
import { project } from "../harness/project.ts";

const ROOT = join(import.meta.dirname, "../..");
const UNIT = readFileSync(join(ROOT, "docs/deploy/retinue.service"), "utf8");
const DOCKERFILE = readFileSync(join(ROOT, "docs/deploy/Dockerfile"), "utf8").replaceAll(/\\\n\s*/g, "");

/** The values of a directive, in order. */
const unit = (name: string): readonly string[] => [...UNIT.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, value = ""]) => value);
const instructions = (name: string): readonly string[] =>
  [...DOCKERFILE.matchAll(new RegExp(`^${name} +(.*)$`, "gm"))].map(([, rest = ""]) => rest);
const settings = () => loadConfig({ cwd: project().root, env: {} });

test("the unit restarts what a restart may mend, and nothing else", () => {
  expect(unit("Restart")).toEqual(["on-failure"]);
  expect(unit("RestartPreventExitStatus").join(" ").split(" ").map(Number)).toEqual([EXIT.misused]);
  expect(unit("StartLimitIntervalSec")).toEqual(["0"]);
});

test("the unit waits longer for a stop than the runtime does", async () => {
  expect(Number(unit("TimeoutStopSec")[0]) * SECOND).toBeGreaterThan((await settings()).drainMs + 5 * SECOND);
  expect(unit("KillSignal")).toEqual(["SIGTERM"]);
});

test("the unit is told by systemd-notify, a child, and leaves only its own folders writable", () => {
  expect([unit("Type"), unit("NotifyAccess"), Number(unit("WatchdogSec")[0]) >= 30]).toEqual([["notify"], ["all"], true]);
  expect([unit("ProtectSystem"), unit("NoNewPrivileges"), unit("PrivateTmp"), unit("StateDirectory"), unit("ReadWritePaths")]).toEqual([
    ["strict"],
    ["true"],
    ["true"],
    ["retinue"],
    [],
  ]);
  expect(unit("MemoryDenyWriteExecute")).toEqual([]); // the engine compiles
});

const systemd = spawnSync("systemd-analyze", ["--version"]).status === 0;

test.skipIf(!systemd)("systemd finds no mistake in the unit", () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-unit-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "retinue.service");
  writeFileSync(file, UNIT.replace(/^ExecStart=.*$/m, "ExecStart=/bin/true"));
  const { status, stderr } = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
});

test("the image has the Node of package.json, and runs as a user without rights", () => {
  const manifest = parseJson(readFileSync(join(ROOT, "package.json"), "utf8"));
  const development = isObject(manifest) && isObject(manifest["devDependencies"]) ? textIn(manifest["devDependencies"], "node") : "";
  const [major] = development.split(".");
  for (const from of instructions("FROM")) expect(from).toMatch(new RegExp(`^node:${major}-slim\\b`));
  expect(instructions("USER")).toEqual(["node"]);
  expect(DOCKERFILE.indexOf("\nUSER node")).toBeLessThan(DOCKERFILE.indexOf("\nENTRYPOINT"));
});

/** The variables of the image. */
const imageEnv = (): { readonly [name: string]: string } =>
  Object.fromEntries(
    (
      instructions("ENV")
        .join(" ")
        .match(/\w+=\S+/g) ?? []
    ).map((pair) => pair.split(/=(.*)/s).slice(0, 2)),
  );
const PROBE = z.object({ exec: z.object({ command: z.array(z.string()) }) });
const CONTAINER = z.object({
  env: z.array(z.object({ name: z.string(), value: z.string() })),
  securityContext: z.object({ readOnlyRootFilesystem: z.boolean() }),
  volumeMounts: z.array(z.object({ mountPath: z.string() })),
  livenessProbe: PROBE,
  readinessProbe: PROBE,
});
const POD = z.object({ securityContext: z.record(z.string(), z.unknown()), containers: z.tuple([CONTAINER]) });
const PODS = z.object({ spec: z.object({ template: z.object({ spec: POD }) }) });
const ON_SERVER = "postgres://bots:x@db.example.com/bots?sslmode=verify-full";

test("the image keeps its store in a volume, and is asked for its health where the console listens", async () => {
  const env = imageEnv();
  const config = await loadConfig({ cwd: project().root, env });
  expect(storeFile(config.store).startsWith(`${instructions("VOLUME")[0]}/`)).toBe(true);
  expect(instructions("HEALTHCHECK").join()).toContain(`http://${config.console.host}:${config.console.port}/healthz`);
  expect(instructions("ENTRYPOINT")).toEqual(['["node_modules/.bin/retinue"]']);
});

test("with a store on a server, image, pods and unit keep working copies where they can write", async () => {
  const fileWith = async (env: { readonly [name: string]: string }) =>
    storeFile((await loadConfig({ cwd: "/bots", env: { ...env, RETINUE_STORE: ON_SERVER } })).store);
  expect(dirname(await fileWith(imageEnv()))).toBe(instructions("VOLUME")[0]);
  const { spec } = PODS.parse(parse(readFileSync(join(ROOT, "docs/kubernetes.yaml"), "utf8"))).spec.template;
  const [container] = spec.containers;
  const ofPod = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
  const mounts = container.volumeMounts.map(({ mountPath }) => mountPath);
  expect(container.securityContext.readOnlyRootFilesystem).toBe(true);
  expect(mounts).toContain(dirname(await fileWith({ ...imageEnv(), ...ofPod })));
  expect(mounts.some((path) => imageEnv()["NODE_COMPILE_CACHE"]?.startsWith(`${path}/`))).toBe(true);
  // A user by name is refused: the node cannot know that it is not root.
  expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 });
  for (const { exec } of [container.livenessProbe, container.readinessProbe])
    expect(exec.command.join()).toContain(`http://127.0.0.1:${ofPod["RETINUE_CONSOLE_PORT"]}/`);
  const folder = `/var/lib/${unit("StateDirectory")[0]}`;
  expect(UNIT).toContain(folder);
  expect(readFileSync(join(ROOT, "docs/deploying.md"), "utf8")).toContain(`\nRETINUE_LOCAL_FOLDER=${folder}\n`);
});

test("no secret reaches a layer: each file is named, and .env is never sent to the builder", () => {
  const copied = instructions("COPY").flatMap((line) =>
    line
      .replace(/--from=\S+ /, "")
      .split(" ")
      .slice(0, -1),
  );
  expect(copied).toEqual([
    "package.json",
    "package-lock.json",
    "*.tgz",
    "/bots/node_modules",
    "package.json",
    "retinue.config.*",
    "agents",
  ]);
  expect(DOCKERFILE).not.toMatch(/RETINUE_KEY|TOKEN|SECRET|^ARG /m);
  const ignored = readFileSync(join(ROOT, "docs/deploy/.dockerignore"), "utf8").split("\n");
  expect(ignored).toEqual(expect.arrayContaining([".env*", "**/.env*", ".retinue", "node_modules"]));
});
