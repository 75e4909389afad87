// The Node versions that run Retinue, and the advice for any other. Plain JavaScript that Node 14 can read.
import { existsSync } from "node:fs";
import { dirname, join, sep } from "node:path";

/**
 * As under "engines" in package.json: the releases with SQLite 3.51.3, in which a race of checkpoints no longer corrupts a store.
 * Node 22 has it too, but calls SQLite experimental, and warns of it in every process and thread.
 */
const SUPPORTED = [
  { major: 24, minor: 15 },
  { major: 26, minor: 0, later: true },
];

/** True for a version such as "24.15.0" that `engines` allows. */
export function isSupported(version) {
  const [major, minor] = version.split(".").map(Number);
  return SUPPORTED.some((one) => (one.major === major ? minor >= one.minor : one.later === true && major > one.major));
}

/** The refusal and the advice, for this version of Node and the file that was run. */
export function refusal(version, file) {
  return {
    code: "node_too_old",
    message: `retinue needs Node 24.15 or a later 24, or Node 26 or later, and this is v${version}`,
    hint: adviceFor(dirname(dirname(file))),
  };
}

/** The way to a newer Node from the place where this package is: a checkout, npx's cache, a project or a global folder. */
function adviceFor(root) {
  const modules = dirname(root);
  if (existsSync(join(root, "src"))) return "run it as npm run retinue -- …, after npm ci: the checkout brings its own Node";
  if (root.split(sep).includes("_npx"))
    return "add a Node to the command: npx -p node@24 -p <this package> retinue …; or install Node 24 from https://nodejs.org";
  const project = dirname(modules);
  if (existsSync(join(project, "package.json")))
    return `run npm install node@24 in ${project}, then npx retinue …: npx and npm scripts use it; or install Node 24 from https://nodejs.org`;
  return "install Node 24 from https://nodejs.org, and then retinue once more if npm no longer finds it";
}
