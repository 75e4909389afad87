/** Handles are found in the text of definitions of every form, and nothing of them is run. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { knownHandles } from "../../src/config/known-handles.ts";
import { project } from "../harness/project.ts";

test("each form of a definition tells its handle, without being loaded; tests and other files tell none", () => {
  const { root, write } = project();
  const code = (handle: string) =>
    `throw new Error("loaded");\nexport default defineSpecialist({\n  handle: "${handle}",\n  on: {},\n});\n`;
  write("agents/scout.ts", code("scout"));
  write("agents/scout.test.ts", code("tested"));
  write("agents/worker/index.js", code("worker"));
  write("agents/worker/part.js", code("part"));
  write("agents/README.md", "handle: readme\n");
  write("agents/.hidden.yaml", "handle: hidden\n");
  write("agents/one.json", '{\n  "tier": "free",\n  "handle": "one-2"\n}');
  write("agents/two.yaml", "tier: free\nhandle: two\n");
  write("agents/three.md", "---\nhandle: three\n---\nhandle: no\n");
  write("agents/long.yaml", `# ${"x".repeat(100_000)}\nhandle: late\n`);
  write("agents/evil.yaml", "handle: $(touch${IFS}evil)\n");
  write("agents/part.yaml", "handle: a$(touch${IFS}evil)\n");
  expect(knownHandles(join(root, "agents"))).toEqual(["a", "one-2", "scout", "three", "two", "worker"]);
  expect(() => knownHandles(join(root, "nowhere"))).toThrow("ENOENT");
});
