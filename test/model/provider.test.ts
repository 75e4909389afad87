/** The AI SDK is loaded by the first call alone, and a project without it is told the command that installs it. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
/** Runs a module of its own in a process where no package of the SDK is installed. */
function inBareProject(script: string): unknown {
  const without = `import { registerHooks } from "node:module";
    registerHooks({ resolve(specifier, context, next) {
      if (!/^(ai|@ai-sdk\\/.*)$/.test(specifier)) return next(specifier, context);
      throw Object.assign(new Error("Cannot find package '" + specifier + "' imported from here"), { code: "ERR_MODULE_NOT_FOUND" });
    } });
    ${script}`;
  const out = execFileSync(process.execPath, ["--conditions=retinue-source", "--input-type=module", "-e", without], {
    cwd: ROOT,
    encoding: "utf8",
  });
  return JSON.parse(out);
}

test("without its packages, the first call says which command installs them, and everything else works", () => {
  expect(
    inBareProject(`
      const { handle, post } = await import("./src/testing.ts");
      const { answer } = await import("./src/model.ts");
      const helper = { handle: "helper", may: ["posts.reply"], instructions: "Be brief.", on: { "post.created": answer({ model: "small" }) } };
      const small = { provider: "anthropic", address: "http://127.0.0.1:9/v1", context: 8000, prices: { input: 0, output: 0 } };
      const error = await handle(helper, "post.created", post({ content: "?" }), { models: { small } }).catch((error) => error);
      console.log(JSON.stringify({ code: error.code, hint: error.details.hint }));`),
  ).toEqual({ code: "model_package_missing", hint: "npm install ai@7.0.173 @ai-sdk/anthropic@4.0.105" });
});
