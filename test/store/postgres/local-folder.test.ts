/** The folder of a process on this machine: what is left there by processes that are gone, and a folder that cannot be written. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parsePostgresAddress } from "../../../src/config/postgres-address.ts";
import { openLocalCopy, requireLocalFolder } from "../../../src/store/postgres/local-folder.ts";
import { folder } from "../../harness/process.ts";

const addressIn = (cwd: string, localFolder?: string) => parsePostgresAddress("postgres://me@localhost/bots", cwd, localFolder);

test("copies of a process that is gone are removed, also if it had the number of this one, as in a container", (context) => {
  const { localFile } = addressIn(folder(context));
  requireLocalFolder({ localFile });
  const { pid: dead } = spawnSync("true");
  for (const name of [`${process.pid}-7`, `${process.pid}-7-wal`, `${dead}-8`, `1-9`]) writeFileSync(`${localFile}-${name}`, "");
  writeFileSync(`${localFile}-webhook-secrets.json`, "{}");
  const [first, second] = [openLocalCopy(localFile, 10), openLocalCopy(localFile, 11)];
  onTestFinished(() => second.close());
  const left = () =>
    readdirSync(join(localFile, ".."))
      .map((name) => name.slice(name.indexOf(".sqlite-") + ".sqlite-".length))
      .filter((name) => !/-(?:wal|shm)$/.test(name));
  expect(left().toSorted()).toEqual(["1-9", `${process.pid}-10`, `${process.pid}-11`, "webhook-secrets.json"].toSorted());
  first.close();
  expect(left().toSorted()).toEqual(["1-9", `${process.pid}-11`, "webhook-secrets.json"].toSorted());
});

test("a folder that cannot be written is named, with the variable that names another", (context) => {
  const root = folder(context);
  writeFileSync(join(root, "file"), "");
  const inFile = join(root, "file", "copies");
  const refused = { name: "Misconfigured", code: "local_folder_unwritable" };
  expect(() => requireLocalFolder(addressIn(root, inFile))).toThrow(
    expect.objectContaining({
      ...refused,
      message: expect.stringContaining(inFile),
      details: expect.objectContaining({ hint: expect.stringContaining("RETINUE_LOCAL_FOLDER") }),
    }),
  );
  requireLocalFolder(addressIn(root, "elsewhere"));
  expect(readdirSync(root)).toEqual(["elsewhere", "file"]);
});

test.skipIf(process.getuid?.() === 0)("a folder of another user cannot be written", (context) => {
  const root = folder(context);
  mkdirSync(join(root, ".retinue"), { mode: 0o500 });
  onTestFinished(() => chmodSync(join(root, ".retinue"), 0o700));
  expect(() => requireLocalFolder(addressIn(root))).toThrow(expect.objectContaining({ code: "local_folder_unwritable" }));
});
