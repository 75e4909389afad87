/** Retinue's receiver and store: verified, deduplicated, fsynced, answered; then ended again, so that its backlog's bound is not what is measured. */
import { join } from "node:path";
import { resolveProfile } from "../../src/contract/profile.ts";
import { systemClock } from "../../src/core/clock.ts";
import { asHandle, type Handle } from "../../src/core/ids.ts";
import { silentLogger } from "../../src/core/log.ts";
import { systemRandom } from "../../src/core/random.ts";
import { Secret } from "../../src/core/secret.ts";
import { createGate } from "../../src/intake/webhook/gate.ts";
import { createReceiver } from "../../src/intake/webhook/receiver.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { ready, settings } from "./subject.ts";
import { SECRET } from "./webhook.ts";

const BATCH = 32;
const clock = systemClock();
const store = openSqliteStore({ path: join(String(settings["folder"]), "store.sqlite"), clock, random: systemRandom() });
const secrets = [new Secret(SECRET)];
const handles = new Set(Array.from({ length: Number(settings["specialists"]) }, (_, i) => asHandle(`s${i}`)));
const draining = new Set<Handle>();
const again = new Set<Handle>();

const gate = createGate({
  clock,
  log: silentLogger(),
  rules: resolveProfile({ extends: "set-b" }).webhooks,
  secretsOf: (handle) => (handles.has(handle) ? secrets : undefined),
  allowUnsigned: false,
  put: (delivery, now) => store.putDelivery(delivery, now),
  onStored: (handle) => void drain(handle),
  onHint: () => undefined,
});

/** As the runtime works on them: one pass at a time for each specialist, and another where something came meanwhile. */
async function drain(specialist: Handle): Promise<void> {
  if (draining.has(specialist)) return void again.add(specialist);
  draining.add(specialist);
  let more = true;
  while (more) {
    again.delete(specialist);
    const deliveries = await store.dueDeliveries(specialist, clock.now(), BATCH);
    await Promise.all(
      deliveries.map(({ seq }) =>
        store.endDelivery({ seq, specialist, state: "done", kind: "post.created", events: [], nudges: [] }, clock.now()),
      ),
    );
    more = deliveries.length === BATCH || again.has(specialist);
  }
  draining.delete(specialist);
}

const receiver = createReceiver({ gate, clock });
const { port } = await receiver.listen({ port: 0, host: "127.0.0.1" });
ready({
  port,
  answers: { kept: () => ({ kept: gate.counts().stored }) },
  async stop() {
    await receiver.close();
    await store.close();
  },
});
