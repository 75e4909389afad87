/**
 * Orders that are given while a store is being opened, which may have read the stops of before: they are carried out on it before its work
 * begins. Until then nobody can ask the store itself.
 */
import { asHandle, type Handle } from "../core/ids.ts";
import { EVERYONE } from "../limits/verdict.ts";
import type { Store } from "../store/store.ts";

export interface StopOrder {
  readonly kind: "halt" | "pause";
  /** A handle, or everyone. */
  readonly scope: string;
  /** Absent if it ends the stop. */
  readonly stop?: { readonly reason: string; readonly at: number };
}

export class OrdersMeanwhile {
  #given: StopOrder[] | undefined;

  /** From now on orders are kept. */
  begin(): void {
    this.#given = [];
  }

  end(): void {
    this.#given = undefined;
  }

  note(order: StopOrder): void {
    this.#given?.push(order);
  }

  /** Carries out those that concern the store, also those that come meanwhile. Nothing is kept any longer once it resolves. */
  async applyTo(store: Pick<Store, "stop" | "lift">, has: (specialist: Handle) => boolean): Promise<void> {
    for (let order = this.#given?.shift(); order !== undefined; order = this.#given?.shift()) {
      const { kind, scope, stop } = order;
      if (scope !== EVERYONE && !has(asHandle(scope))) continue;
      if (stop === undefined) await store.lift(kind, scope);
      else await store.stop(kind, scope, stop.reason, stop.at);
    }
    this.end();
  }
}
