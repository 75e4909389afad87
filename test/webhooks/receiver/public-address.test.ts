/** Addresses that are handed to a network: the public ones only, however the others are written. */
import { expect, test } from "vitest";
import { innerAddress } from "../../../src/webhooks/receiver/public-address.ts";
import { deliveryUrl } from "../../../src/webhooks/receiver-settings.ts";

test.each([
  "http://localhost/",
  "http://LOCALHOST.:80/",
  "http://scout.localhost/",
  "http://127.0.0.1/",
  "http://127.1/",
  "http://2130706433/",
  "http://0x7f.0.0.1/",
  "http://0177.0.0.1/",
  "http://0/",
  "http://[::1]/",
  "http://[::]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:7f00:1]/",
  "http://[0:0:0:0:0:ffff:10.0.0.1]/",
  "http://[::127.0.0.1]/",
  "http://[64:ff9b::7f00:1]/",
  "http://[2002:7f00:1::]/",
  "http://[fe80::1]/",
  "http://[fc00::1]/",
  "http://[fd12:3456::1]/",
  "http://[ff02::1]/",
  "http://10.1.2.3/",
  "http://172.31.0.1/",
  "http://192.168.1.1/",
  "http://169.254.169.254/latest/meta-data",
  "http://100.64.0.1/",
  "http://198.18.0.1/",
  "http://224.0.0.1/",
  "http://255.255.255.255/",
  "http://0.0.0.0/",
  "http://①②⑦.0.0.1/",
  "http://printer/",
  "http://nas.local/",
  "http://db.internal/",
  "https://user:pass@bots.acme.dev/",
  "ftp://bots.acme.dev/",
  "not an address",
])("%s is refused", (url) => expect(innerAddress(url)).toBeTypeOf("string"));

test.each([
  "https://bots.acme.dev/",
  "http://8.8.8.8/",
  "https://[2606:4700::1111]/",
  "https://172.32.0.1/",
  "https://xn--bcher-kva.ch/hooks",
])("%s is taken", (url) => expect(innerAddress(url)).toBeUndefined());

test("a specialist's address is made of the base as it is given", () => {
  for (const base of ["https://a.dev", "https://a.dev/", "https://a.dev/webhooks", "https://a.dev/webhooks/"])
    expect(deliveryUrl(base, "scout")).toBe("https://a.dev/webhooks/scout");
  expect(deliveryUrl("https://a.dev/x", "scout", "a/b")).toBe("https://a.dev/x/webhooks/scout/a%2Fb");
});
