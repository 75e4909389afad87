/**
 * A process among those that work on one server, or a command that visits them. A process has a session that says that it lives, and one by
 * which it hears and asks; the first alone decides if it is a member.
 */
import type { PostgresAddress } from "../../config/postgres-address.ts";
import type { Clock } from "../../core/clock.ts";
import type { Handle } from "../../core/ids.ts";
import type { WriteInFlight } from "../controls.ts";
import type { NetworkStateChange, NetworkStateRow } from "../network-state.ts";
import type { NewOrder, OrderEnd } from "../orders.ts";
import { definedElsewhere, undefinedSpecialists, unevenShards, type UnevenShard } from "./abilities.ts";
import { readFleet, readSigns, type FleetProcess, type FleetView } from "./fleet-view.ts";
import { inSchema, type Query } from "./in-schema.ts";
import { enterStore, KnownStore, type EnterOptions } from "./known-store.ts";
import { MemberSession } from "./member-session.ts";
import { readNetworkState, saveNetworkState } from "./fleet-state.ts";
import { openConnection, type PostgresConnection } from "./open-connection.ts";
import { movingWrites } from "./open-writes.ts";
import { handlesOf, placedShard, placeTogether, type KeyGroup, type Placed } from "./placements.ts";
import { bePresent, newProcessNumber, PRESENCE_SETTINGS } from "./presence.ts";
import { openWriter, ReadyWriter } from "./ready-writer.ts";
import { Requests } from "./requests.ts";
import { livingSettings, sessionTimes } from "./session-settings.ts";
import { dropStop, endSessions, keepOrder, keepStop } from "./stops.ts";

export interface MembershipOptions {
  readonly address: PostgresAddress;
  readonly clock: Clock;
  /** The specialists that this process can run. Undefined for a visitor, such as a command: it is no member. */
  readonly handles: readonly Handle[] | undefined;
  /** The start of the process. Default: now. */
  readonly startedAt?: number | undefined;
  /** For the salt of a new store. */
  readonly newSalt: () => string;
  /** Called before the process has a number. Throws if it must not join. */
  readonly admit?: (connection: PostgresConnection) => Promise<void>;
  /** The store that this process has joined before: it joins no other. Default: one that it does not know. */
  readonly known?: KnownStore;
  /** Called when a process says that something has changed. */
  readonly onNotice?: () => void;
  /** Answers a request of another process, for which that waits so long; undefined where nobody waits for an answer. Never rejects. */
  readonly answer?: (body: string, leftMs: number) => Promise<string | undefined>;
  /** Called once if the session that says that it lives ends. */
  readonly onLost?: (error: Error) => void;
  /** Called with the server's clock, and the monotonic time at which it was asked for it. */
  readonly onTime?: (serverNow: number, askedAt: number) => void;
}

interface Parts {
  readonly known: KnownStore;
  readonly number: number;
  /** Undefined for a visitor. */
  readonly presence: PostgresConnection | undefined;
}

export class Membership {
  /** Its number; 0 for a visitor. */
  readonly number: number;
  /** For the stores of this process. */
  readonly writers: ReadyWriter;
  readonly #options: MembershipOptions;
  readonly #known: KnownStore;
  readonly #presence: PostgresConnection | undefined;
  readonly #session: MemberSession;
  readonly #requests: Requests;
  readonly #query: Query;
  readonly #schema: string;
  readonly #channel: string;
  #sessions: string | undefined;

  private constructor(options: MembershipOptions, { known, number, presence }: Parts) {
    const { address, clock, answer, newSalt, onLost } = options;
    const { schema } = address;
    const times = sessionTimes(address.sessionTimeoutMs);
    this.#options = options;
    this.#known = known;
    this.#presence = presence;
    this.#schema = schema;
    this.#channel = `retinue ${schema}`;
    this.number = number;
    this.writers = new ReadyWriter(() => openWriter({ address, process: number }));
    const connect = (purpose: string): Promise<PostgresConnection> => openConnection({ address, purpose, settings: livingSettings(times) });
    this.#session = new MemberSession({
      connect:
        presence === undefined ? () => entered(connect("visitor"), { address, known, newSalt, isVisitor: true }) : () => connect("notices"),
      channel: this.#channel,
      clock,
      times,
      onNotice: (text) => (text === "look" ? options.onNotice?.() : this.#requests.heard(text)),
      onAgain: () => {
        options.onNotice?.();
        this.#requests.lookAgain();
      },
    });
    this.#query = inSchema(this.#session, schema);
    this.#requests = new Requests({ query: this.#query, channel: this.#channel, number, clock, answer });
    presence?.onLost((error) => {
      this.#requests.close();
      onLost?.(error);
    });
  }

  /** Throws `Retryable` or `Misconfigured` if the server cannot be used. A visitor makes no tables (`store_missing`). */
  static async open(options: MembershipOptions): Promise<Membership> {
    const { address, clock, handles, newSalt, onTime, startedAt, known = new KnownStore() } = options;
    let presence: PostgresConnection | undefined;
    let number = 0;
    if (handles !== undefined) {
      const opened = openConnection({ address, purpose: "process", settings: PRESENCE_SETTINGS });
      presence = await entered(opened, { address, known, newSalt, isVisitor: false });
      presence.requireAnswers(sessionTimes(address.sessionTimeoutMs).answerMs);
      try {
        await options.admit?.(presence);
        number = await newProcessNumber(presence, { schema: address.schema, clock, ...(onTime === undefined ? {} : { onTime }) });
      } catch (error) {
        await presence.close();
        throw error;
      }
    }
    const membership = new Membership(options, { known, number, presence });
    try {
      await membership.#session.open();
      if (presence !== undefined && handles !== undefined) {
        await membership.#openOthers();
        await bePresent(presence, { schema: address.schema, clock, number, handles, startedAt });
        await membership.notify(); // the others may have looked at the sessions before
      }
      return membership;
    } catch (error) {
      await membership.close();
      throw error;
    }
  }

  /** Connections of the first store: without them, this process would take shards from the others, and could not use them. */
  async #openOthers(): Promise<void> {
    await this.writers.open();
    const past = await openConnection({ address: this.#options.address, purpose: "check" });
    await past.close();
  }

  /** The living processes and the free shards: one statement. Throws `Misconfigured` (`store_missing`) if it is another store by now. */
  async look(): Promise<FleetView> {
    const { clock, address, onTime } = this.#options;
    const askedAt = clock.monotonic();
    const { salt, ...view } = await readFleet(this.#query, this.#schema);
    this.#known.recognise(salt, address);
    onTime?.(view.serverNow, askedAt);
    this.#requests.seen(view.processes);
    return view;
  }

  /** True if sessions of Retinue have come or gone since the last call. Cheaper than a look. Takes requests whose notice was lost. */
  async hasChanged(): Promise<boolean> {
    const { sessions, isAsked } = await readSigns(this.#query, this.number);
    this.#requests.waits(isAsked);
    const is = sessions !== this.#sessions;
    this.#sessions = sessions;
    return is;
  }

  /** The shards that these processes are not equally able to run. */
  unevenShards(among: readonly number[]): Promise<readonly UnevenShard[]> {
    return unevenShards(this.#query, among, this.number);
  }

  /** The specialists that one of these processes has a definition of, and this one has not. */
  definedElsewhere(among: readonly number[]): Promise<readonly Handle[]> {
    return definedElsewhere(this.#query, among, this.number);
  }

  /** The specialists that are at a process without their definition, by what a look has seen: at most so many, and the number of all. */
  undefinedSpecialists({ processes }: FleetView, most: number): ReturnType<typeof undefinedSpecialists> {
    return undefinedSpecialists(this.#query, processes, most);
  }

  /** For fingerprints of keys, as stores of this server have them. */
  get salt(): string {
    return this.#known.salt;
  }

  /** Puts specialists that share a key into one shard, and those without rows where their key was used. */
  place(groups: readonly KeyGroup[]): Promise<Placed> {
    return placeTogether(this.#session, this.#schema, groups);
  }

  /** The specialists that each of these processes has, by its number. */
  handlesOf({ processes, free }: Pick<FleetView, "processes" | "free">): Promise<ReadonlyMap<number, readonly Handle[]>> {
    return handlesOf(this.#query, processes, free);
  }

  /** The shard that a specialist belongs to. */
  shardOf(specialist: Handle): Promise<number> {
    return placedShard(this.#query, specialist);
  }

  /** The specialists of this process from now on. */
  async canRun(handles: readonly Handle[]): Promise<void> {
    await this.#query("UPDATE @.process SET handles = $1 WHERE number = $2", [handles, this.number]);
  }

  async drains(): Promise<void> {
    await this.#query("UPDATE @.process SET draining = true WHERE number = $1", [this.number]);
    await this.notify();
  }

  /** Tells all processes to look. */
  async notify(): Promise<void> {
    await this.#query("SELECT pg_notify($1, 'look')", [this.#channel]);
  }

  /**
   * Asks another process. Throws `Retryable` (`process_silent`) if no answer comes in time: its text says what may still happen. `signal`
   * ends the wait.
   */
  ask(receiver: FleetProcess, body: string, timeoutMs: number, signal?: AbortSignal): Promise<string> {
    return this.#requests.ask(receiver, body, timeoutMs, signal);
  }

  /** Tells other processes; nobody answers. */
  tell(receivers: readonly FleetProcess[], body: string): Promise<void> {
    return this.#requests.tell(receivers, body);
  }

  /** Ends the sessions by which a process has shards. Resolves with what it had under way. Throws `Retryable` (`process_silent`). */
  endSessions(process: FleetProcess): Promise<readonly WriteInFlight[]> {
    return endSessions(this.#query, this.#schema, process);
  }

  /** The requests of actions of specialists that go from one process to another at this time. */
  movingWrites(): Promise<readonly WriteInFlight[]> {
    return movingWrites(this.#query, this.#schema);
  }

  /** Stores a stop, for processes that begin later. */
  keepStop(kind: "halt" | "pause", scope: string, reason: string, now: number): Promise<void> {
    return keepStop(this.#query, { kind, scope, since: now, reason });
  }

  /** Adds a row to the orders of a shard, which whoever opens it shows. */
  keepOrder(shard: number, order: NewOrder, end: OrderEnd): Promise<void> {
    return keepOrder(this.#query, shard, { ...order, ...end });
  }

  /** Ends a kept stop. False if there was none. */
  dropStop(kind: "halt" | "pause", scope: string): Promise<boolean> {
    return dropStop(this.#query, kind, scope);
  }

  /** True if a process that has joined can run the specialist. */
  async knows(specialist: Handle): Promise<boolean> {
    const rows = await this.#query("SELECT FROM @.process WHERE $1 = ANY(handles) LIMIT 1", [specialist]);
    return rows.length > 0;
  }

  /** Rows that concern no specialist. */
  networkState(): Promise<readonly NetworkStateRow[]> {
    return readNetworkState(this.#query);
  }

  saveNetworkState(change: NetworkStateChange, now: number): Promise<void> {
    return saveNetworkState(this.#query, change, now);
  }

  async close(): Promise<void> {
    this.#requests.close();
    await this.writers.close();
    await this.#session.close();
    await this.#presence?.close();
  }
}

/** The connection, once it is in the store; it is closed if it is not. */
async function entered(opening: Promise<PostgresConnection>, options: EnterOptions): Promise<PostgresConnection> {
  const connection = await opening;
  try {
    await enterStore(connection, options);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}
