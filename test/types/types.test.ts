/** The types of definitions as their authors meet them: every planted mistake is red, in words that name it, and libraries are checked too. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

/** Lines about the declarations of the optional peers, which our built declarations do not import, and what goes with such a line. */
const OF_MODELS = /^[^\n]*node_modules\/(?:ai|@ai-sdk)\/[^\n]*\n(?:[ \t][^\n]*\n)*/gm;
const ROOT = join(import.meta.dirname, "../..");

/** Compiles files as strictly as an author may, declarations of libraries included. */
function mistakes(files: { readonly [name: string]: string }): string {
  mkdirSync(join(ROOT, ".retinue"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, ".retinue/types-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  // Of the sources' own libraries, those of models have mistakes of their own, and p-queue names a type of browsers; the built declarations import none of them.
  const compilerOptions = {
    skipLibCheck: false,
    lib: ["es2024", "esnext.disposable", "dom"],
    typeRoots: [join(ROOT, "node_modules/@types")],
  };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: join(ROOT, "tsconfig.json"), include: ["*.ts"], compilerOptions }),
  );
  const { stdout } = spawnSync(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "--pretty", "false", "-p", folder], {
    cwd: folder,
    encoding: "utf8",
  });
  return stdout.replaceAll(OF_MODELS, "");
}

const definition = (body: string, may = '"posts.reply"') =>
  `import { defineSpecialist } from "retinue";\nexport default defineSpecialist({ handle: "one", may: [${may}], initialState: { count: 0 }, on: { ${body} } });\n`;

test("the files here are part of what `npm run types` checks", () => {
  expect(readdirSync(import.meta.dirname)).toContain("definitions.ts");
});

test("a mistake is told by its own line and the word that is wrong, and nothing else is, libraries included", () => {
  const told = mistakes({
    "good.ts": definition(`"post.created": (post, act) => void act.reply(post, "yes")`),
    "action.ts": definition(`"post.created": (post, act) => void act.vote(post)`),
    "target.ts": definition(`"job.listed": (job, act) => void act.reply(job, "no")`),
    "state.ts": definition(`"post.created": (_post, act) => void (act.state.count = "one")`),
    "may.ts": definition("", '"post.reply"'),
  });
  expect(told).toMatch(/action\.ts\(2,\d+\): error TS2339: Property 'vote' does not exist on type 'ActFor<"posts\.reply"/);
  expect(told).toMatch(/target\.ts\(2,\d+\): error TS2345: Argument of type '\{[\s\S]*?kind: "job"/);
  expect(told).toMatch(/state\.ts\(2,\d+\): error TS2322: Type 'string' is not assignable to type 'number'/);
  expect(told).toMatch(
    /may\.ts\(2,\d+\): error TS2820: Type '"post\.reply"' is not assignable to type 'MayName'\. Did you mean '"posts\.reply"'\?/,
  );
  expect(told.match(/error TS/g)).toHaveLength(4);
});
