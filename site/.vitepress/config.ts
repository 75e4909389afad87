/** The site: the repository's own pages, as they stand, and the API pages that TypeDoc wrote into site/api. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { defineConfig, type DefaultTheme, type MarkdownOptions, type Plugin } from "vitepress";
import { GROUPS } from "../pages.ts";

const ROOT = join(import.meta.dirname, "../..");
const ABOUT = "A runtime for autonomous specialists on an agent network: within every limit, nothing twice, nothing lost.";
const HERE = import.meta.filename;
/** Files that pages link to and that are no pages: served as text. */
const linkedFiles = new Set<string>();

const address = (path: string): string =>
  `/${path
    .replace(/^README\.md$/, "")
    .replace(/README\.md$/, "")
    .replace(/\.md$/, "")}`;

/** The anchor of a heading, as the repository's own links spell it. */
const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");

const sidebar: DefaultTheme.SidebarItem[] = [
  ...GROUPS.map(({ title, pages }) => ({ text: title, items: pages.map((page) => ({ text: page.title, link: address(page.path) })) })),
  {
    text: "API",
    items: [
      { text: "retinue", link: "/api/" },
      { text: "retinue/testing", link: "/api/testing" },
      { text: "retinue/model", link: "/api/model" },
    ],
  },
];

const DOORS: { readonly [page: string]: string } = {
  "api/index.md": "retinue",
  "api/testing.md": "retinue/testing",
  "api/model.md": "retinue/model",
};

/** TypeDoc names a page by its source file; readers know the door that they import. */
function nameDoor(tokens: readonly { readonly type: string; readonly children: { content: string }[] | null }[], page: string): void {
  const heading = tokens[tokens.findIndex(({ type }) => type === "heading_open") + 1]?.children?.[0];
  if (heading !== undefined) heading.content = DOORS[page] ?? heading.content;
}

/** Blocks that are indented have no frame of VitePress, which would scroll. */
const STYLE = ".vp-doc > div > pre { overflow-x: auto; }";

/** A link to a folder leads to its README, or nowhere without one; a link to a file that is no page leads to its text. */
const leadToPages: NonNullable<MarkdownOptions["config"]> = (md) => {
  md.core.ruler.push("lead-to-pages", ({ tokens, env }) => {
    const { relativePath } = env as { readonly relativePath: string };
    const from = dirname(relativePath);
    if (from.startsWith("api")) return nameDoor(tokens, relativePath);
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === "link_open" ? (token.attrGet("href") ?? "") : "";
      // A README is served as its folder.
      if (/README\.md(?:#|$)/.test(href)) token.attrSet("href", href.replace("README.md", ""));
      if (href === "" || /^[a-z]+:|^#|\.md(?:#|$)/.test(href)) continue;
      const path = join(from, href);
      if (!existsSync(join(ROOT, path))) continue; // the check of dead links names it
      if (statSync(join(ROOT, path)).isFile()) {
        linkedFiles.add(path);
        token.attrSet("href", `/${path}.txt`);
        token.attrSet("target", "_blank");
      } else token.attrSet("href", existsSync(join(ROOT, path, "README.md")) ? `/${path}/` : "/examples/");
    }
  });
};

/** The pages stand outside this folder: what they are compiled to imports its packages from here. */
const packagesOfSite: Plugin = {
  name: "packages-of-site",
  enforce: "pre",
  resolveId(id, importer, options) {
    if (!/^vue(?:\/|$)/.test(id) || importer === HERE) return undefined;
    return options.ssr === true ? { id, external: true } : this.resolve(id, HERE, { ...options, skipSelf: true });
  },
};

function writeTexts(outDir: string): void {
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(outDir, path)), { recursive: true });
    writeFileSync(join(outDir, path), text);
  };
  const lists = GROUPS.map(({ title, pages }) =>
    [`## ${title}`, "", ...pages.map((page) => `- [${page.title}](/${page.path}): ${page.about}`)].join("\n"),
  );
  write("llms.txt", [`# Retinue`, `> ${ABOUT}`, ...lists].join("\n\n") + "\n");
  const texts = GROUPS.flatMap(({ pages }) => pages.map(({ path }) => ({ path, text: readFileSync(join(ROOT, path), "utf8") })));
  for (const { path, text } of texts) write(path, text);
  write("llms-full.txt", texts.map(({ path, text }) => `<!-- ${path} -->\n\n${text}`).join("\n\n"));
  for (const path of linkedFiles) {
    mkdirSync(dirname(join(outDir, path)), { recursive: true });
    copyFileSync(join(ROOT, path), join(outDir, `${path}.txt`));
  }
}

export default defineConfig({
  title: "Retinue",
  description: ABOUT,
  head: [["style", {}, STYLE]],
  srcDir: "..",
  srcExclude: ["{.*,agents,api,bench,dist,mine,src,templates,test}/**", "site/node_modules/**", "examples/*/agents/**"],
  rewrites: {
    "README.md": "index.md",
    "examples/README.md": "examples/index.md",
    "examples/:name/README.md": "examples/:name/index.md",
    "site/api/:rest*": "api/:rest*",
  },
  markdown: { config: leadToPages, anchor: { slugify: anchorOf }, languageAlias: { dotenv: "ini" } },
  vite: { plugins: [packagesOfSite], build: { chunkSizeWarningLimit: 2_000 }, esbuild: { tsconfigRaw: {} } },
  themeConfig: { sidebar, outline: [2, 3], search: { provider: "local" } },
  buildEnd: ({ outDir }) => writeTexts(outDir),
});
