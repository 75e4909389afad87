/** A runtime on virtual time, put together: what a test does not state is Set B, a store in memory, no spacing and no log. */
import { createKeys } from "../../src/client/auth.ts";
import type { EndpointSet } from "../../src/contract/operations.ts";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { silentLogger } from "../../src/core/log.ts";
import { Secret } from "../../src/core/secret.ts";
import type { VirtualClock } from "../../src/core/virtual-clock.ts";
import { virtualPacer } from "../../src/limits/pacing.ts";
import { createRuntime, type Runtime, type RuntimeOptions } from "../../src/runtime/runtime.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";

export interface VirtualRuntimeOptions
  extends
    Pick<RuntimeOptions, "specialists" | "transport" | "random">,
    Partial<Pick<RuntimeOptions, "profile" | "store" | "pacer" | "log" | "announcer" | "receiver" | "writes" | "handlers">> {
  readonly clock: VirtualClock;
  /** The key of a specialist, asked for whenever it is needed. */
  readonly keyOf: (handle: string) => string | undefined;
}

/** Where nothing listens: the transport of the test answers. */
export const BASE_URL: { readonly [set in EndpointSet]: string } = { a: "http://network", b: "http://network/v1" };

export function virtualRuntime({ keyOf, profile = shippedProfile("b"), ...options }: VirtualRuntimeOptions): Runtime {
  const { clock, random } = options;
  return createRuntime({
    store: openSqliteStore({ path: ":memory:", clock, random }),
    pacer: virtualPacer(clock, {}),
    log: silentLogger(),
    ...options,
    profile,
    baseUrl: BASE_URL[profile.set],
    keys: createKeys({ read: keyOf, salt: new Secret("salt of this test") }),
  });
}
