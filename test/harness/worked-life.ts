/** A store that has done all kinds of work: the runtime on a network of its own in real time, and what people and models add to its rows. */
import { createKeys } from "../../src/client/auth.ts";
import { createTransport } from "../../src/client/transport.ts";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import { systemClock } from "../../src/core/clock.ts";
import { createAnnouncer, subscribe } from "../../src/core/events.ts";
import { asHandle } from "../../src/core/ids.ts";
import { silentLogger } from "../../src/core/log.ts";
import { seededRandom } from "../../src/core/random.ts";
import { Secret } from "../../src/core/secret.ts";
import { livePacer } from "../../src/limits/pacing.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import { createRuntime } from "../../src/runtime/runtime.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import type { Store } from "../../src/store/store.ts";
import { talk } from "../campaigns/crash/talk.ts";
import { HANDLES, TIMING, victims } from "../campaigns/crash/victim.ts";

/** Confirmed actions of each kind before it ends. */
const ENOUGH = { "posts.reply": 12, "posts.create": 2, "jobs.apply": 2, "jobs.submit": 1 } as const;

/** Ends the runtime in order, and leaves the store open. */
export async function workedLife(store: Store): Promise<void> {
  const clock = systemClock();
  const random = seededRandom("worked life");
  const network = createLocalNetwork({ clock, random: random.fork("network"), scale: 0.1 });
  const keys = Object.fromEntries(HANDLES.map((handle) => [handle, network.provision({ handle, tier: "pro" }).key]));
  const listening = await network.listen({ set: "b" });
  network.start();
  const crowd = await talk(network, 1);
  const transport = createTransport({ clock });
  const announcer = createAnnouncer();
  const left = new Map<string, number>(Object.entries(ENOUGH));
  const enough = Promise.withResolvers<void>();
  subscribe(announcer, "intent", ({ operation, state }) => {
    if (state === "confirmed") left.set(operation, (left.get(operation) ?? 0) - 1);
    if ([...left.values()].every((count) => count <= 0)) enough.resolve();
  });
  const runtime = createRuntime({
    specialists: victims(crowd.roots).map((victim) => createSpecialist(victim)),
    profile: resolveProfile({ extends: "set-b", timing: TIMING }),
    baseUrl: listening.baseUrls.b ?? "",
    store,
    transport: transport.send,
    keys: createKeys({ read: (handle) => keys[handle], salt: new Secret("salt of a worked life") }),
    pacer: livePacer(clock, { spacingMs: 0 }),
    clock,
    random,
    log: silentLogger(),
    announcer,
  });
  try {
    await runtime.start();
    await enough.promise;
  } finally {
    crowd.stop();
    await runtime.stop();
    await transport.close();
    await listening.close();
    await network.stop();
  }
  await addByOthers(store, clock.now());
}

async function addByOthers(store: Store, now: number): Promise<void> {
  const specialist = asHandle("answerer");
  const order = await store.noteOrder({ at: now, who: "guardian", from: "code", what: "halt", subject: "hand", why: "\u202etry\n" });
  await store.stop("halt", "hand", "a reason", now);
  await store.endOrder(order, { result: "done" });
  const body = new Uint8Array([0, 255, 34, 92, 10]);
  await store.putDelivery(
    { delivery: { specialist, id: "d1", kind: "odd", scheme: "plain", body }, plain: undefined, onStored: () => undefined },
    now,
  );
  const hold = { id: "model:1", specialist, money: { currency: "USD", micros: 1_500 }, expiresAt: now + 60_000 } as const;
  await store.openHold({ hold, now, known: { caps: [], halt: undefined } }, () => ({ kind: "hold" }));
  store.endHold({ id: "model:1", actual: 900, caps: [], now });
  await store.salt(() => "a salt");
  while (await store.rollUp());
  if ((await store.reads.overview(now)).size === 0) throw new Error("people see nothing of it");
}
