/** Reads the project's own source files: what each imports, which globals it touches, how it opens. */
import { globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { parseSync } from "oxc-parser";

/** Globals that read time, chance, the network or the environment, or make patterns: each has one home. */
const WATCHED_CALLS = ["setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate", "fetch", "RegExp"];
const WATCHED_MEMBERS: { readonly [object: string]: readonly string[] } = {
  Date: ["now"],
  Math: ["random"],
  performance: ["now"],
  process: ["env", "stdin", "stdout", "stderr"],
  globalThis: WATCHED_CALLS,
};
/** Modules that are the same things under another name. */
const TIMER_MODULES = ["node:timers", "node:timers/promises", "node:perf_hooks"];

export interface SourceFile {
  readonly path: string;
  /** Module specifiers as written, type-only and dynamic ones included. */
  readonly imports: readonly string[];
  readonly globals: readonly string[];
  readonly exportsEverything: boolean;
  readonly lines: number;
  /** The text of the comment the file opens with, or nothing. */
  readonly opening: string;
  /** The text of each doc comment, without its stars. */
  readonly docs: readonly string[];
  /** It exports a function or a class, and holds a branch: it can be wrong, and a test can call it. */
  readonly decides: boolean;
}

/** All TypeScript files that match the pattern, in order of their paths. */
export function readTree(root: string, pattern: string): SourceFile[] {
  return globSync(pattern, { cwd: root })
    .map((path) => path.replaceAll("\\", "/"))
    .sort()
    .map((path) => readSource(path, readFileSync(posix.join(root, path), "utf8")));
}

export function readSource(path: string, text: string): SourceFile {
  const parsed = parseSync(path, text);
  if (parsed.errors.length > 0) throw new Error(`${path}: ${parsed.errors[0]?.message}`);
  const found: Found = { imports: [], globals: [], exportsEverything: false, exportsCode: false, branches: 0 };
  const program: unknown = parsed.program;
  if (isNode(program)) walk(program, undefined, "", found);
  for (const name of found.imports) if (TIMER_MODULES.includes(name)) found.globals.push(name);
  const first = parsed.comments[0];
  const start = text.startsWith("#!") ? text.indexOf("\n") + 1 : 0;
  const { exportsCode, branches, ...seen } = found;
  return {
    path,
    ...seen,
    decides: exportsCode && branches > 0,
    lines: text.trimEnd().split("\n").length,
    opening: first?.start === start ? first.value : "",
    docs: parsed.comments.filter(({ type, value }) => type === "Block" && value.startsWith("*")).map(({ value }) => textOf(value)),
  };
}

function textOf(comment: string): string {
  return comment.replaceAll(/^[\s*]+/gm, "").trimEnd();
}

/** One member of an interface: a method with its parameters, or a property with the text of its type. */
export interface Member {
  /** As a person writes it: `reply(to, content, options?)`, `key?`. */
  readonly form: string;
  readonly type: string;
}

/** The members of an exported interface, in written order. */
export function membersOf(path: string, name: string): readonly Member[] {
  const text = readFileSync(path, "utf8");
  const declared = parseSync(path, text).program.body.flatMap((statement) =>
    statement.type === "ExportNamedDeclaration" && statement.declaration?.type === "TSInterfaceDeclaration" ? [statement.declaration] : [],
  );
  const members = declared.find(({ id }) => id.name === name)?.body.body ?? [];
  return members.map((member) => {
    if (member.type !== "TSMethodSignature" && member.type !== "TSPropertySignature") throw new Error(`${name}: ${member.type}`);
    const { key, optional } = member;
    const own = key.type === "Identifier" ? key.name : key.type === "Literal" ? String(key.value) : "";
    if (member.type === "TSPropertySignature") {
      const at = member.typeAnnotation?.typeAnnotation;
      return { form: optional ? `${own}?` : own, type: text.slice(at?.start ?? 0, at?.end ?? 0) };
    }
    const parameters = member.params.map((one) => (one.type === "Identifier" ? `${one.name}${one.optional ? "?" : ""}` : one.type));
    return { form: `${own}(${parameters.join(", ")})`, type: "" };
  });
}

interface Found {
  imports: string[];
  globals: string[];
  exportsEverything: boolean;
  exportsCode: boolean;
  branches: number;
}

/** Nodes that go one way or another: a condition, a loop, a default, a caught error. */
const BRANCHES: readonly string[] = [
  "IfStatement",
  "ConditionalExpression",
  "SwitchStatement",
  "LogicalExpression",
  "CatchClause",
  "ForStatement",
  "ForOfStatement",
  "ForInStatement",
  "WhileStatement",
  "DoWhileStatement",
];
const FUNCTIONS: readonly string[] = ["FunctionDeclaration", "ClassDeclaration", "ArrowFunctionExpression", "FunctionExpression"];

interface Node {
  readonly type: string;
  readonly [field: string]: unknown;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

const isName = (value: unknown, name: string): boolean => isNode(value) && value.type === "Identifier" && value["name"] === name;

/** Looks at one node, then at what it holds. `field` is where its parent holds it. */
function walk(node: Node, parent: Node | undefined, field: string, found: Found): void {
  const source = node["source"];
  if (isNode(source) && source.type === "Literal") found.imports.push(String(source["value"]));
  if (BRANCHES.includes(node.type)) found.branches++;
  if (node.type === "ExportNamedDeclaration" && exportsCode(node["declaration"])) found.exportsCode = true;
  if (node.type === "ExportAllDeclaration" && node["exported"] === null) found.exportsEverything = true;
  if (node.type === "MemberExpression")
    for (const [object, members] of Object.entries(WATCHED_MEMBERS))
      for (const member of members)
        if (isName(node["object"], object) && isName(node["property"], member)) found.globals.push(`${object}.${member}`);
  if (node.type === "NewExpression" && isName(node["callee"], "Date") && (node["arguments"] as unknown[]).length === 0)
    found.globals.push("new Date()");
  if (node.type === "Identifier" && isReference(parent, field))
    for (const name of WATCHED_CALLS) if (node["name"] === name) found.globals.push(name);
  for (const [name, value] of Object.entries(node))
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, node, name, found);
}

/** False where an identifier is only a name: a property, a key, a type's part, a parameter. */
function isReference(parent: Node | undefined, field: string): boolean {
  if (parent === undefined || parent.type.startsWith("TS") || field === "params") return false;
  if (parent.type === "MemberExpression") return field === "object";
  if (parent.type === "Property") return field === "value" && parent["shorthand"] === false;
  return !["MethodDefinition", "PropertyDefinition", "ImportSpecifier", "ExportSpecifier"].includes(parent.type);
}

/** True for `export function`, `export class`, and `export const name = () => …`. */
function exportsCode(declaration: unknown): boolean {
  if (!isNode(declaration)) return false;
  if (declaration.type !== "VariableDeclaration") return FUNCTIONS.includes(declaration.type);
  const declared: unknown = declaration["declarations"];
  return (
    Array.isArray(declared) && declared.some((one: unknown) => isNode(one) && isNode(one["init"]) && FUNCTIONS.includes(one["init"].type))
  );
}
