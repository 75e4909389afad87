/** The port of network state: one row for each kind and name, dropped before it is put. */
import { expect, test } from "vitest";
import { desk } from "../harness/guardian-over-store.ts";

test("rows are known by kind and name; the last one counts, and what is dropped and put again stays", async () => {
  const { clock, store, on } = desk();
  const row = (kind: string, name: string, n: number) => ({ kind, name, data: { n } });
  await on(store.saveNetworkState({ put: [row("stop", "a", 1), row("stop", "b", 2), row("drift", "a", 3)], drop: [] }, clock.now()));
  await on(
    store.saveNetworkState(
      {
        put: [row("stop", "a", 4), row("drift", "a", 5)],
        drop: [
          { kind: "stop", name: "b" },
          { kind: "drift", name: "a" },
          { kind: "none", name: "x" },
        ],
      },
      clock.now(),
    ),
  );
  const rows = (await on(store.networkState())).map(({ kind, name, data }) => `${kind} ${name} ${JSON.stringify(data)}`);
  expect(rows.toSorted()).toEqual(['drift a {"n":5}', 'stop a {"n":4}']);
});
