/** A receiver that stores and never works, for a test that kills it between the answer and the work. */
import { resolveProfile } from "../../src/contract/profile.ts";
import { systemClock } from "../../src/core/clock.ts";
import { silentLogger } from "../../src/core/log.ts";
import { systemRandom } from "../../src/core/random.ts";
import { Secret } from "../../src/core/secret.ts";
import { createGate } from "../../src/intake/webhook/gate.ts";
import { createReceiver } from "../../src/intake/webhook/receiver.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";

const [path = "", secret = ""] = process.argv.slice(2);
const clock = systemClock();
const store = openSqliteStore({ path, clock, random: systemRandom() });
const gate = createGate({
  clock,
  log: silentLogger(),
  rules: resolveProfile({ extends: "set-b" }).webhooks,
  secretsOf: () => [new Secret(secret)],
  allowUnsigned: false,
  put: (delivery) => store.putDelivery({ delivery, plain: undefined, onStored: () => undefined }, clock.now()),
  onHint: () => undefined,
});
const { port } = await createReceiver({ gate, clock: systemClock() }).listen({ port: 0, host: "127.0.0.1" });
process.send?.({ port });
