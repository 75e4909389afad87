/**
 * Copies a store to a file, or to an empty one on a server. Its specialists go on with the copy: the original is halted before, so that
 * nobody works on both.
 */
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { placeOf, type PostgresAddress } from "../config/postgres-address.ts";
import { DEFAULT_STORE, storeFile, type StoreAddress } from "../config/store-address.ts";
import type { Clock } from "../core/clock.ts";
import { isRetinueError, messageOf, Misconfigured, Retryable } from "../core/errors.ts";
import type { Random } from "../core/random.ts";
import { EVERYONE } from "../limits/verdict.ts";
import { copiedTo } from "./copied.ts";
import { openStore } from "./open-store.ts";
import { syncFolder } from "./sqlite/schema.ts";
import { openSqliteStore } from "./sqlite/store.ts";
import { openWholeFile, type WholeFile } from "./sqlite/whole-file.ts";
import type { Store } from "./store.ts";

export interface Copying {
  readonly from: StoreAddress;
  readonly to: StoreAddress;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Throws `Retryable` (`store_in_use`) while a runtime has one of them, and `Misconfigured` (`store_missing`, `store_not_empty`,
 * `backup_failed`). A copy that fails leaves the original as it was, but for `Retryable` (`copy_unconfirmed`): it stays halted then.
 */
export async function copyStore(copying: Copying): Promise<{ readonly specialists: number }> {
  try {
    return await copyIdle(copying);
  } catch (error) {
    if (!isRetinueError(error) || error.code !== "store_in_use") throw error;
    throw new Retryable("store_in_use", messageOf(error), { hint: "end the processes that have it, and copy it then", cause: error });
  }
}

async function copyIdle(copying: Copying): Promise<{ readonly specialists: number }> {
  const { from, to, clock, random } = copying;
  refuseFile(copying);
  const original = await openStore(from, { clock, random, mustExist: true });
  const file = `${storeFile(to)}-copy`;
  try {
    const reason = copiedTo(nameOf(to));
    const wasHalted = (await original.stops()).halts.some(({ scope }) => scope === EVERYONE);
    if (!wasHalted) await original.stop("halt", EVERYONE, reason, clock.now());
    let copied: { readonly specialists: number };
    try {
      await writeWhole(original, file, copying);
      copied = await take(file, copying, wasHalted);
      if (to.kind === "sqlite") renameSync(file, to.path);
    } catch (error) {
      if (!wasHalted && !(isRetinueError(error) && error.code === "copy_unconfirmed")) await original.lift("halt", EVERYONE);
      throw error;
    }
    if (to.kind === "sqlite") syncFolder(to.path); // the copy is there, whether this fails or not
    return copied;
  } finally {
    removeFiles(file);
    await original.close();
  }
}

/** For messages: no part of a password. */
export function nameOf(address: StoreAddress): string {
  return address.kind === "sqlite" ? address.path : `${placeOf(address)}, schema ${address.schema}`;
}

/** For commands to copy: the address without a password. */
export function addressOf(address: StoreAddress): string {
  return address.kind === "sqlite" ? `sqlite:${address.path}` : postgresAddressOf(address);
}

function postgresAddressOf({ user, host, port, database, schema, tls }: PostgresAddress): string {
  const [name, place, data] = [user, host, database].map(encodeURIComponent);
  const root = tls?.rootCertificates;
  const parameters = [
    `schema=${schema}`,
    ...(tls === undefined ? [] : ["sslmode=verify-full"]),
    ...(root === undefined ? [] : [`sslrootcert=${encodeURIComponent(root)}`]),
  ];
  return `postgres://${name}@${host.includes(":") ? `[${host}]` : place}:${port}/${data}?${parameters.join("&")}`;
}

function refuseFile({ from, to }: Copying): void {
  if (from.kind === "sqlite" && !existsSync(from.path))
    throw new Misconfigured("store_missing", "there is no store to copy", { file: from.path, hint: "name it with --store" });
  if (nameOf(from) === nameOf(to))
    throw new Misconfigured("store_not_empty", "this is the store itself", {
      expected: "the address of another store",
      ...(to.kind === "sqlite" ? {} : { hint: `name the original with --store ${DEFAULT_STORE}` }),
    });
  if (to.kind === "sqlite" && existsSync(to.path))
    throw new Misconfigured("store_not_empty", "the file exists already", { file: to.path, hint: "name another file" });
}

/** Writes the store to a file in which every fact is folded and rolled up. */
async function writeWhole(original: Store, file: string, { clock, random }: Copying): Promise<void> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  removeFiles(file);
  await original.backup(file);
  const copy = openSqliteStore({ path: file, clock, random, rollsUpAtEnd: true });
  await copy.close();
}

function take(file: string, { to, clock, random }: Copying, wasHalted: boolean): Promise<{ readonly specialists: number }> {
  return during(file, async (whole) => {
    whole.forgetCopying();
    if (!wasHalted) whole.lift("halt", EVERYONE);
    if (to.kind === "postgres") {
      const { fillServer } = await import("./postgres/fill-server.ts"); // nobody else pays for it
      await fillServer({ address: to, clock, random }, whole);
    }
    return { specialists: whole.specialists };
  });
}

async function during<Result>(file: string, work: (whole: WholeFile) => Promise<Result>): Promise<Result> {
  const whole = openWholeFile(file);
  try {
    return await work(whole);
  } finally {
    whole.close();
  }
}

function removeFiles(file: string): void {
  for (const suffix of ["", "-wal", "-shm", "-beat", "-lock"]) rmSync(`${file}${suffix}`, { force: true });
}
