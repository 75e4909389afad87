#!/usr/bin/env -S MALLOC_ARENA_MAX=1 node --max-semi-space-size=8
// The door of the command line: plain JavaScript that Node 14 can read, so that an old Node is told what to do.
// Most of what a request makes is dead when it is answered: a small young generation keeps 50 MB off the process, one arena
// for all threads 17 MB more (glibc keeps one a thread), and collecting once the heap has grown by 40 % another 10.
import { existsSync, readFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { fileURLToPath } from "node:url";
import { isSupported, refusal } from "./node-version.js";

/** Node writes its compile cache when it ends by itself; a service that is killed would take half as long again at each start. */
const CACHED_AFTER_MS = 10_000;

async function start() {
  if (!isSupported(process.versions.node)) {
    const error = refusal(process.versions.node, fileURLToPath(import.meta.url));
    if (process.argv.includes("--json")) console.log(JSON.stringify({ error }));
    else console.error(`error: ${error.message}\n  try: ${error.hint}`);
    process.exitCode = 2;
    return;
  }
  if (process.argv[2] === "--version" || process.argv[2] === "-V") {
    console.log(JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version);
    return;
  }
  // A checkout runs its sources, built or not; the package has only what was built.
  const importOurs = (name) => {
    const source = new URL(`../src/${name}.ts`, import.meta.url);
    return import((existsSync(source) ? source : new URL(`../dist/${name}.js`, import.meta.url)).href);
  };
  if (process.argv.slice(2).join(" ") === "completion --handles") {
    // A person waits for the next word: a command takes five times as long to load.
    const { knownHandles } = await importOurs("config/known-handles");
    for (const handle of knownHandles("agents")) console.log(handle);
    return;
  }
  nodeModule.enableCompileCache();
  setTimeout(() => nodeModule.flushCompileCache(), CACHED_AFTER_MS).unref();
  const { main } = await importOurs("cli/main");
  process.exitCode = await main(process.argv.slice(2));
}

await start();
