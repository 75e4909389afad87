/** Opens a store and dies, as by `kill -9`, at one of the statements on the way: `node migrate-and-die.ts <file> <which> [facts]`. */
import { DatabaseSync } from "node:sqlite";

const [file = "", which = "1", as] = process.argv.slice(2);
let left = Number(which);
const exec = Object.getOwnPropertyDescriptor(DatabaseSync.prototype, "exec")?.value as DatabaseSync["exec"];
DatabaseSync.prototype.exec = function dying(this: DatabaseSync, sql: string): void {
  if (--left === 0) process.kill(process.pid, "SIGKILL");
  exec.call(this, sql);
};
const { openDatabase } = await import("../../src/store/sqlite/database.ts");
openDatabase(file, { facts: as === "facts" }).close();
process.stdout.write("opened");
