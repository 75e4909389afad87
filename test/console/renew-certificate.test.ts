/** A renewed certificate is taken within a minute; a pair that cannot be used leaves the earlier one, and is told once. */
import { rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MINUTE } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { keepCertificate } from "../../src/console/renew-certificate.ts";
import { folder } from "../harness/process.ts";

test("new files are taken once, also after a pair that could not be used", async (context) => {
  const root = folder(context);
  const files = { cert: join(root, "cert.pem"), key: join(root, "key.pem") };
  let version = 1;
  const write = (cert: string, key: string): void => {
    writeFileSync(files.cert, cert);
    writeFileSync(files.key, key);
    for (const file of Object.values(files)) utimesSync(file, version, version);
    version++;
  };
  write("cert 1", "key 1");
  const clock = virtualClock();
  const taken: string[] = [];
  const told: string[] = [];
  const server = {
    setSecureContext({ cert, key }: { readonly cert: Buffer; readonly key: Buffer }): void {
      if (String(cert).includes("bad")) throw new Error("no start line");
      taken.push(`${String(cert)}, ${String(key)}`);
    },
  };
  const stop = keepCertificate({ files, server, clock, onError: ({ message }) => void told.push(message) });
  await clock.advance(5 * MINUTE);
  expect(taken).toEqual([]);
  write("cert 2", "key 2");
  await clock.advance(5 * MINUTE);
  expect(taken).toEqual(["cert 2, key 2"]);
  write("bad", "key 3");
  await clock.advance(5 * MINUTE);
  expect(told).toEqual(["the certificate or the key of the console cannot be used: no start line"]);
  rmSync(files.key);
  await clock.advance(5 * MINUTE);
  expect(told).toHaveLength(2);
  write("cert 4", "key 4");
  await clock.advance(2 * MINUTE);
  expect(taken).toEqual(["cert 2, key 2", "cert 4, key 4"]);
  stop();
  write("cert 5", "key 5");
  await clock.advance(5 * MINUTE);
  expect(taken).toHaveLength(2);
});
