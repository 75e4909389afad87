/** An optional package that is missing is an error that names the command which installs it. */
import { expect, test } from "vitest";
import { loadPeer } from "../../src/core/peer.ts";

const PEER = { name: "@retinue-test/none", version: "1.2.3" };

test("a missing package names its install command", async () => {
  const name: string = PEER.name;
  await expect(loadPeer(PEER, () => import(name))).rejects.toMatchObject({
    name: "Misconfigured",
    code: "peer_missing",
    details: { hint: "npm install --save-exact @retinue-test/none@1.2.3" },
  });
});

test("another failure of a package that is there is passed on as it is", async () => {
  const broken = new Error("Cannot find package 'other' imported from @retinue-test/none");
  await expect(loadPeer(PEER, () => Promise.reject(broken))).rejects.toBe(broken);
  await expect(loadPeer(PEER, () => Promise.reject(Object.assign(broken, { code: "ERR_MODULE_NOT_FOUND" })))).rejects.toBe(broken);
  expect(await loadPeer(PEER, () => Promise.resolve("loaded"))).toBe("loaded");
});
