/** A store belongs to one network: another is refused by name, another spelling of the same address is the same. */
import { expect, test } from "vitest";
import { parseStoreAddress } from "../../src/config/store-address.ts";
import { bindToNetwork, otherNetwork } from "../../src/store/bind-network.ts";
import { desk } from "../harness/guardian-over-store.ts";

const HERE = "https://here.example.com/v1";
const file = parseStoreAddress("sqlite:store.sqlite", "/");
const use = (network: string, allowMoved = false) => ({ store: file, network, allowMoved });

test.each([undefined, HERE, `${HERE}/`, "https://here.example.com", "https://HERE.example.com:443/v1"])(
  "a store of %s may be used",
  (before) => {
    expect(otherNetwork(before, use(HERE))).toBeUndefined();
  },
);

test.each(["https://there.example.com/v1", "http://here.example.com/v1", "https://here.example.com:8443/v1", "local"])(
  "a store of %s may not, unless it has moved",
  (before) => {
    expect(otherNetwork(before, use(HERE))).toMatchObject({
      code: "store_of_other_network",
      message: `the store belongs to ${before}, not to ${HERE}`,
    });
    expect(otherNetwork(before, use(HERE, true))).toBeUndefined();
  },
);

test("the first network binds, a refused one does not, and a move binds anew", async () => {
  const { store, on } = desk();
  await on(bindToNetwork(store, use(HERE)));
  await expect(on(bindToNetwork(store, use("https://there.example.com/v1")))).rejects.toMatchObject({ code: "store_of_other_network" });
  expect(await on(store.network())).toBe(HERE);
  await on(bindToNetwork(store, use("https://there.example.com/v1", true)));
  expect(await on(store.network())).toBe("https://there.example.com/v1");
});

test("the advice for a store on a server is another schema", () => {
  const store = parseStoreAddress("postgres://me@127.0.0.1/x", "/");
  const refusal = otherNetwork("https://there.example.com/v1", { ...use(HERE), store });
  expect(refusal?.message).toBe(`the store on 127.0.0.1:5432/x, schema retinue, belongs to https://there.example.com/v1, not to ${HERE}`);
  expect(refusal?.details).toMatchObject({ hint: expect.stringMatching(/^name another schema in the store's address: \?schema=<name>/) });
  expect(refusal?.details).not.toHaveProperty("file");
});
