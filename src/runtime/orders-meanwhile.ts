/**
 * Stops that no store has yet: those that are given while one is being opened, which may have read the stops of before, and halts that the
 * server could not keep. They hold for the store before its work begins. Until then nobody can ask the store itself.
 */
import type { UnkeptHalts } from "../gateway/unkept-halts.ts";
import { EVERYONE, type Stop } from "../limits/verdict.ts";
import type { NewOrder, OrderEnd } from "../store/orders.ts";
import type { FleetView } from "../store/postgres/fleet-view.ts";
import type { Membership } from "../store/postgres/membership.ts";
import type { Store } from "../store/store.ts";

export interface StopOrder {
  readonly kind: "halt" | "pause";
  /** A handle, or everyone. */
  readonly scope: string;
  /** Absent if it ends the stop. */
  readonly stop?: { readonly reason: string; readonly at: number };
}

/** A store with halts that it could not keep. */
interface Holding {
  readonly runtime: { readonly parts: { readonly unkeptHalts: Pick<UnkeptHalts, "all"> } };
}

type Session = Pick<Membership, "number" | "keepStop" | "keepOrder" | "tell">;
/** The living processes and the free shards: whoever opens one of these shows an order that is kept there. */
type Seen = Pick<FleetView, "processes" | "free">;

/** Orders without a row that a process remembers: the latest ones. */
const MOST_UNLISTED = 100;

export class OrdersMeanwhile {
  #given: StopOrder[] | undefined;
  #unlisted: readonly { readonly order: NewOrder; readonly end: OrderEnd }[] = [];
  #unkept: readonly Stop[] = [];

  /** Halts that no store keeps yet. */
  get unkept(): readonly Stop[] {
    return this.#unkept;
  }

  /** Keeps halts in memory, because the server does not answer. They are stored at the next look at the server. */
  hold(...halts: readonly Stop[]): void {
    const scopes = halts.map(({ scope }) => scope);
    this.#unkept = [...this.#unkept.filter(({ scope }) => !scopes.includes(scope)), ...halts];
  }

  /** Forgets such a halt. False if there was none. */
  release(scope: string): boolean {
    const before = this.#unkept.length;
    this.#unkept = this.#unkept.filter((halt) => halt.scope !== scope);
    return this.#unkept.length < before;
  }

  /** Stores the halts of before. From now on orders are kept. */
  async begin(session: Session, seen: Seen): Promise<void> {
    this.#given = [];
    await this.store(session, seen);
  }

  /** Stores the halts that are held in memory, and tells the other processes of them; then the orders without a row. */
  async store(session: Session, { processes, free }: Seen): Promise<void> {
    const held = this.#unkept;
    const others = processes.filter(({ number }) => number !== session.number);
    for (const { scope, reason, since } of held) {
      await session.keepStop("halt", scope, reason, since);
      const query = { ...(scope === EVERYONE ? {} : { handle: scope }), reason };
      const by = `${processes.find(({ number }) => number === session.number)?.name ?? "another process"}, which held it`;
      if (others.length > 0) await session.tell(others, JSON.stringify({ do: "halt", with: query, by }));
      this.#unkept = this.#unkept.filter((halt) => halt.scope !== scope || halt.since !== since);
    }
    for (const { order, end } of this.#unlisted) {
      const isKept = await session.keepOrder(free[0] ?? 0, order, end).then(
        () => true,
        () => false, // the next look tries it again
      );
      if (!isKept) return;
      this.#unlisted = this.#unlisted.filter((one) => one.order !== order);
    }
  }

  /** Stores them as the process ends, with those of these stores. Others stay in memory, for whoever ends the process to keep or to tell of. */
  async storeAtEnd(session: Session | undefined, seen: Seen, stores: readonly Holding[] = []): Promise<void> {
    this.hold(...stores.flatMap(({ runtime }) => runtime.parts.unkeptHalts.all()));
    if (session !== undefined) await this.store(session, seen).catch(() => undefined);
  }

  /** Remembers an order that no store has a row of, until the server can take it. */
  list(order: NewOrder, end: OrderEnd): void {
    this.#unlisted = [...this.#unlisted, { order, end }].slice(-MOST_UNLISTED);
  }

  end(): void {
    this.#given = undefined;
  }

  /** Takes an order that a store must obey that is being opened. */
  note(order: StopOrder): void {
    this.#given?.push(order);
  }

  /**
   * Carries out all of them, also those that come meanwhile, and those of specialists of other stores: a store has read the stops of all, and
   * shows them. No order is kept any longer once it resolves.
   */
  async applyTo(store: Pick<Store, "stop" | "lift">): Promise<void> {
    for (let order = this.#given?.shift(); order !== undefined; order = this.#given?.shift()) {
      const { kind, scope, stop } = order;
      if (stop === undefined) await store.lift(kind, scope);
      else await store.stop(kind, scope, stop.reason, stop.at);
    }
    this.end();
  }
}
