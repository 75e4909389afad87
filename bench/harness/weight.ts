/** What packages weigh on disk with all they depend on: ours by the project's lock, peers' by the bench's. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Weight {
  readonly mb: number;
  readonly packages: number;
}

const root = join(import.meta.dirname, "../..");

interface Locked {
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}
type Packages = Readonly<Record<string, Locked>>;

function packagesOf(folder: string): Packages {
  return (JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")) as { readonly packages: Packages }).packages;
}

/** What `npm install retinue` brings, by the lock. */
export function requiredPackages(): readonly string[] {
  return Object.entries(packagesOf(root)).flatMap(([path, { dev, optional }]) =>
    path === "" || dev === true || optional === true ? [] : [path],
  );
}

export function requiredWeight(): Weight {
  const paths = requiredPackages();
  return { mb: paths.reduce((sum, path) => sum + folderMb(join(root, path)), 0), packages: paths.length };
}

/** Peers' packages with what npm installs for them; undefined where one of them, or something it needs, is not installed. */
export function peerWeight(names: readonly string[]): Weight | undefined {
  const folder = join(root, "bench");
  const packages = packagesOf(folder);
  const there = (path: string): boolean => packages[path] !== undefined && existsSync(join(folder, path));
  const found = new Set<string>();
  let whole = true;
  const visit = (wanted: string, from: string, required: boolean): void => {
    const path = placesOf(wanted, from).find(there);
    if (path === undefined) return void (whole &&= !required);
    if (found.has(path)) return;
    found.add(path);
    const needs = needsOf(packages[path] ?? {});
    for (const [next, isRequired] of needs) visit(next, path, isRequired);
  };
  for (const name of names) visit(name, "", true);
  if (!whole) return undefined;
  const paths = [...found];
  const nested = (path: string): boolean => paths.some((other) => other !== path && path.startsWith(`${other}/`));
  const mb = paths.filter((path) => !nested(path)).reduce((sum, path) => sum + folderMb(join(folder, path)), 0);
  return { mb, packages: paths.length };
}

/** Where Node looks for a package, nearest first. */
function placesOf(wanted: string, from: string): readonly string[] {
  const places: string[] = [];
  for (let at = from; at !== ""; at = at.slice(0, Math.max(0, at.lastIndexOf("/node_modules/"))))
    places.push(`${at}/node_modules/${wanted}`);
  return [...places, `node_modules/${wanted}`];
}

/** With whether it has to be there: a binary for another machine has not. */
function needsOf({ dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta }: Locked): ReadonlyMap<string, boolean> {
  const names = (some: Readonly<Record<string, string>> | undefined): readonly string[] => Object.keys(some ?? {});
  return new Map([
    ...names(peerDependencies).flatMap((name) => (peerDependenciesMeta?.[name]?.optional === true ? [] : [[name, true] as const])),
    ...names(dependencies).map((name) => [name, true] as const),
    ...names(optionalDependencies).map((name) => [name, false] as const),
  ]);
}

export function folderMb(path: string): number {
  const { stdout } = spawnSync("du", ["-sb", path]);
  return Number(stdout.toString().split("\t")[0]) / 1_000_000;
}
