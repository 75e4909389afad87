/** Composes the webhooks of the runtime: receiver, gate, registrations and their status. */
import { backoffMs, type Backoff } from "../core/backoff.ts";
import { sleep } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import { messageOf, Refused } from "../core/errors.ts";
import type { Handle } from "../core/ids.ts";
import type { Secret } from "../core/secret.ts";
import { HOUR, MINUTE, SECOND } from "../core/units.ts";
import { createGate, type Gate, type GateCounts, type GateHint, type VerifiedDelivery } from "./receiver/accept.ts";
import { hintedReads, readsFor } from "./interpret.ts";
import type { Listening, Receiver, ReceiverCounts } from "./receiver/http.ts";
import type { RawDelivery } from "./receiver/signatures.ts";
import { readsAgain, receiveDelivery } from "./process-deliveries.ts";
import { createHints, type Hints } from "./hints.ts";
import type { Member } from "../gateway/member.ts";
import type { WebhookDependencies } from "./webhook-dependencies.ts";
import { checkReceiver, deliveryRoute, deliveryUrl, keptSecrets, type ReceiverSettings } from "./receiver-settings.ts";
import { recallSecret, rememberSecret } from "./network-secrets.ts";
import { keepRegistered, shownRegistration, unregister, type RegistrationShown, type RegistrationState } from "./registration.ts";
import type { CoverageShown } from "../polling/webhook-coverage.ts";
import type { DeliveryCount } from "../store/deliveries.ts";

/**
 * A webhook works once a delivery has been accepted: `unproven` is registered without one, `stopped` if polls have found several events
 * since the last one.
 */
export type DeliveryState = "unregistered" | "unproven" | "working" | "stopped";

export interface SpecialistWebhooks {
  readonly handle: Handle;
  readonly state: DeliveryState;
  /** Time of the last accepted delivery. */
  readonly lastAt?: number;
  readonly health: CoverageShown;
  readonly registration: RegistrationShown;
  /** Deliveries by the network's word for their kind. */
  readonly deliveries: readonly DeliveryCount[];
}

export interface WebhooksShown {
  /** Address of the receiver. */
  readonly url: string | undefined;
  /** The route of deliveries in one sentence: the public address and the receiver's own. Undefined if nothing listens. */
  readonly route?: string;
  /** True means that anyone can make us read: shown wherever status is. */
  readonly unsigned: boolean;
  readonly counts: GateCounts & ReceiverCounts;
  readonly specialists: readonly SpecialistWebhooks[];
}

export interface Webhooks {
  /** Takes one delivery without HTTP. */
  accept(handle: string, delivery: RawDelivery): ReturnType<Gate["accept"]>;
  /**
   * Starts to listen. Throws `Retryable` (`port_in_use`) or `Misconfigured`: `webhook_secret_missing`, `webhook_url_inner`,
   * `cannot_listen`.
   */
  start(): Promise<Listening | undefined>;
  /** Keeps a specialist's webhook registered, until the runtime stops or it is retired. */
  look(member: Member): Promise<void>;
  /** Removes a retired specialist's webhook from the network. */
  forget(member: Member): Promise<void>;
  /** Stops accepting deliveries. */
  close(): Promise<void>;
  /** Address once it listens; the handle is appended. */
  readonly url: string | undefined;
  /** True if unsigned deliveries are accepted, as hints. */
  readonly unsigned: boolean;
  shown(): Promise<WebhooksShown>;
}

export interface WebhooksOptions {
  readonly settings: ReceiverSettings;
  readonly parts: WebhookDependencies;
  readonly members: Members;
}

/** The working specialists. */
export interface Members {
  all(): readonly Member[];
  find(handle: string): Member | undefined;
}

/** Interval between checks of the network's list; shorter if no deliveries come. */
const LOOK_MS = 6 * HOUR;
const UNHEALTHY_LOOK_MS = 30 * MINUTE;
/** Each failed try is charged; polls continue meanwhile. */
const REGISTRATION: Backoff = { firstMs: 30 * SECOND, longestMs: HOUR };
/** Interval between checks for a changed secret; they cost no request. */
const SECRET_LOOK_MS = MINUTE;
/** Times that an unrecorded webhook is recreated before it is accepted: two owners must not undo each other for ever. */
const MAX_RENEWALS = 3;

const NOT_LISTENING: ReceiverCounts = { malformed: 0, tooLarge: 0, evicted: 0, open: 0, rateLimited: 0, misaddressed: 0 };

export function createWebhooks(options: WebhooksOptions): Webhooks {
  return new Reception(options);
}

class Reception implements Webhooks {
  readonly #settings: ReceiverSettings;
  readonly #parts: WebhookDependencies;
  readonly #members: Members;
  readonly #secrets: ReceiverSettings["readSecrets"];
  readonly #gate: Gate;
  readonly #hints: Hints;
  /** Set once it listens. */
  #receiver: Receiver | undefined;
  readonly #registrations = new Map<Handle, RegistrationState>();
  readonly #looking = new Set<Handle>();
  readonly #renewals = new Map<Handle, number>();
  /** Times of the last accepted deliveries in this process. */
  readonly #lastAt = new Map<Handle, number>();
  #listening: Listening | undefined;

  constructor({ settings, parts, members }: WebhooksOptions) {
    const { wall, log, profile, networkNow, scrubber } = parts;
    this.#settings = settings;
    this.#parts = parts;
    this.#members = members;
    const readSecrets = (handle: string): readonly Secret[] => {
      const secrets = settings.readSecrets(handle);
      for (const secret of secrets) scrubber.add(secret);
      return secrets;
    };
    this.#secrets = keptSecrets(readSecrets, () => wall.monotonic());
    this.#hints = createHints(parts);
    this.#gate = createGate({
      clock: wall,
      networkNow,
      log,
      scrubber,
      rules: profile.webhooks,
      allowUnsigned: settings.allowUnsigned,
      secretsOf: (handle) => this.#secretsOf(handle),
      put: (delivery) => this.#put(delivery),
      onAccepted: (handle) => this.#accepted(handle),
      onHint: (handle, hint) => this.#hint(handle, hint),
    });
  }

  get url(): string | undefined {
    return this.#listening?.url;
  }

  get unsigned(): boolean {
    if (!this.#settings.allowUnsigned) return false;
    const { scheme } = this.#parts.profile.webhooks;
    const handles = this.#handles();
    return scheme === "none" || handles.length === 0 || handles.some((handle) => this.#secrets(handle).length === 0);
  }

  accept(handle: string, delivery: RawDelivery): ReturnType<Gate["accept"]> {
    return this.#gate.accept(handle, delivery);
  }

  async start(): Promise<Listening | undefined> {
    const { port, host } = this.#settings;
    const { coverage, store, clock, log } = this.#parts;
    checkReceiver(this.#settings, this.#parts.profile, this.#handles());
    if (this.unsigned)
      this.#parts.log.warn("webhooks are not signed: anyone who knows the address can cause reads; their content is not trusted");
    coverage.keepOn(await store.webhookHealth(), (handle, kept) => {
      store
        .saveWebhookHealth(handle, kept, clock.now())
        .catch((error: unknown) => log.error("webhook coverage could not be stored", { handle, message: messageOf(error) }));
    });
    for (const handle of this.#handles()) await this.#recall(handle);
    if (port !== undefined) this.#listening = await this.#listen({ port, host });
    const route = this.#route();
    if (route !== undefined && this.#settings.local !== true) log.info(`webhooks: ${route}`);
    return this.#listening;
  }

  async #listen(address: { readonly port: number; readonly host: string }): Promise<Listening> {
    const { clock, log } = this.#parts;
    const { createReceiver } = await import("./receiver/http.ts"); // loading the server is a tenth of the start, and most run without it
    this.#receiver = createReceiver({
      clock,
      gate: this.#gate,
      onError: (error) => log.error("the webhook receiver failed", { message: messageOf(error) }),
    });
    return this.#receiver.listen(address);
  }

  async look(member: Member): Promise<void> {
    const { handle } = member.specialist;
    if (this.#looking.has(handle)) return;
    this.#looking.add(handle);
    try {
      await this.#keep(member);
    } finally {
      this.#looking.delete(handle);
    }
  }

  async forget(member: Member): Promise<void> {
    if (this.#registeredUrl() === undefined) return;
    const { handle } = member.specialist;
    const state = await unregister(this.#parts, member);
    this.#registrations.set(handle, state);
    rememberSecret(this.#parts, this.#settings.networkSecrets, handle, state);
  }

  async close(): Promise<void> {
    await this.#receiver?.close();
    this.#parts.coverage.flush();
  }

  async shown(): Promise<WebhooksShown> {
    const { coverage, store } = this.#parts;
    return {
      url: this.url,
      ...defined({ route: this.#route() }),
      unsigned: this.unsigned,
      counts: { ...this.#gate.counts(), ...(this.#receiver?.counts() ?? NOT_LISTENING) },
      specialists: await Promise.all(
        this.#handles().map(async (handle) => ({
          handle,
          ...this.#deliveryState(handle),
          health: coverage.of(handle),
          registration: shownRegistration(this.#registrations.get(handle)),
          deliveries: await store.deliveryCounts(handle),
        })),
      ),
    };
  }

  #deliveryState(handle: Handle): Pick<SpecialistWebhooks, "state" | "lastAt"> {
    const { state, lastReportedAt } = this.#parts.coverage.of(handle);
    const lastAt = this.#lastAt.get(handle) ?? lastReportedAt;
    if (lastAt !== undefined) return { state: state === "unhealthy" ? "stopped" : "working", lastAt };
    return { state: this.#registrations.get(handle)?.kind === "registered" ? "unproven" : "unregistered" };
  }

  #accepted(handle: Handle): void {
    const { coverage, log, clock } = this.#parts;
    if (this.#lastAt.get(handle) === undefined && coverage.of(handle).lastReportedAt === undefined)
      log.info("its first webhook delivery was accepted", { handle });
    this.#lastAt.set(handle, clock.now());
  }

  #route(): string | undefined {
    const { url } = this;
    return url === undefined ? undefined : this.#parts.scrubber.clean(deliveryRoute(this.#registeredUrl(), new URL(url).origin));
  }

  #handles(): readonly Handle[] {
    return this.#members.all().map(({ specialist }) => specialist.handle);
  }

  /** The address for the network to deliver to. */
  #registeredUrl(): string | undefined {
    const { url, local = false } = this.#settings;
    return url ?? (local ? this.url : undefined);
  }

  #secretsOf(handle: Handle): readonly Secret[] | undefined {
    const member = this.#members.find(handle);
    if (member === undefined || member.retired) return undefined;
    const registration = this.#registrations.get(handle);
    const foreign = registration?.kind === "registered" ? registration.secret : undefined;
    const secrets = this.#secrets(handle);
    return foreign === undefined ? secrets : [...secrets, foreign];
  }

  #put(delivery: VerifiedDelivery): ReturnType<typeof receiveDelivery> {
    const member = this.#members.find(delivery.specialist);
    if (member === undefined) throw new Refused("specialist_unknown", `${delivery.specialist} is not a specialist here`);
    return receiveDelivery(this.#parts, member, delivery);
  }

  #hint(handle: Handle, hint: GateHint): void {
    const member = this.#members.find(handle);
    if (member === undefined) return;
    this.#accepted(handle);
    const looks = hint.signed ? readsAgain(this.#parts, member, hint) : hintedReads(hint, this.#parts.profile.webhooks);
    this.#hints.ask(member, looks);
  }

  /** Checks the registration repeatedly. */
  async #keep(member: Member): Promise<void> {
    const { clock, log, stopping, coverage } = this.#parts;
    const { handle } = member.specialist;
    let waits = 0;
    await this.#recall(handle);
    await this.#suspendUnknown(member);
    // Lists that rest on webhooks may be due in half an hour, and nobody was told while no process ran.
    if (coverage.of(handle).state !== "unknown") this.#readLists(member);
    while (!stopping.aborted && !member.retired) {
      const before = this.#registrations.get(handle);
      const [secret] = this.#secrets(handle);
      const state = await this.#register(member, secret);
      const now = withSecretOf(before, state);
      this.#registrations.set(handle, now);
      rememberSecret(this.#parts, this.#settings.networkSecrets, handle, now);
      if (state.kind === "registered") {
        coverage.resume(handle);
        // No delivery reported what happened before it was made.
        if (state.isNew === true && coverage.of(handle).state !== "unknown") this.#readLists(member);
      }
      if (state.kind === "notNeeded") return;
      if (before?.kind !== state.kind) log.info(SAID[state.kind], { handle, ...("why" in state ? { why: state.why } : {}) });
      else if (isAnother(before, state)) log.info("its webhook was recreated with the first secret", { handle });
      const lookMs = coverage.of(handle).state === "unhealthy" ? UNHEALTHY_LOOK_MS : LOOK_MS;
      waits = state.kind === "deferred" ? waits + 1 : 0;
      const until = state.kind === "deferred" ? state.until : (state.tidyAt ?? clock.now() + lookMs);
      await this.#rest(handle, Math.max(SECOND, until - clock.now(), waits === 0 ? 0 : backoffMs(REGISTRATION, waits)), secret);
    }
  }

  /** Takes up the webhook whose secret the network gave an earlier process. */
  async #recall(handle: Handle): Promise<void> {
    if (this.#registrations.has(handle)) return;
    const kept = await recallSecret(this.#parts, this.#settings.networkSecrets, handle);
    if (kept !== undefined) this.#registrations.set(handle, { kind: "registered", ...kept });
  }

  /** Without the secret that the network chose, no delivery can be verified until the webhook is made again: lists are read meanwhile. */
  async #suspendUnknown(member: Member): Promise<void> {
    const { store, coverage } = this.#parts;
    const { handle } = member.specialist;
    if (this.#registeredUrl() === undefined || this.#registrations.get(handle)?.kind === "registered") return;
    if (!(await store.registrations(handle)).some(({ foreignSecret }) => foreignSecret)) return;
    coverage.suspend(handle);
    this.#readLists(member);
  }

  /** Reads the lists and the objects with the latest news soon. */
  #readLists(member: Member): void {
    this.#hints.ask(member, readsFor(undefined));
  }

  /** Waits; ends early if the secret has changed. */
  async #rest(handle: Handle, restMs: number, secret: Secret | undefined): Promise<void> {
    const { clock, stopping } = this.#parts;
    for (let left = restMs; left > 0 && !stopping.aborted; left -= SECRET_LOOK_MS) {
      await sleep(clock, Math.min(left, SECRET_LOOK_MS), stopping);
      if (this.#secrets(handle)[0]?.reveal() !== secret?.reveal()) return;
    }
  }

  /** Another address has to prove itself: until a delivery arrives there, lists are polled as without webhooks. */
  #moved(member: Member): void {
    const { coverage } = this.#parts;
    const { handle } = member.specialist;
    if (coverage.of(handle).state !== "unknown") this.#readLists(member); // their next polls may be half an hour away
    this.#lastAt.delete(handle);
    coverage.restart(handle);
  }

  async #register(member: Member, secret: Secret | undefined): Promise<RegistrationState> {
    const { profile, clock } = this.#parts;
    const url = this.#registeredUrl();
    if (url === undefined) return { kind: "notNeeded", why: "no address is set for the network to deliver to" };
    const unsupported = profile.operations.get("webhooks.create")?.unsupported;
    if (unsupported !== undefined) return { kind: "notNeeded", why: unsupported };
    const { handle } = member.specialist;
    const before = this.#registrations.get(handle);
    const told = before?.kind === "registered" && before.secret !== undefined ? before.webhookId : undefined;
    const token = profile.webhooks.scheme === "path" ? secret?.reveal() : undefined;
    const renewals = this.#renewals.get(handle) ?? 0;
    const wanted = {
      url: deliveryUrl(url, handle, token),
      storedUrl: this.#parts.scrubber.blank(deliveryUrl(url, handle)),
      secret,
      told,
      adopt: renewals >= MAX_RENEWALS,
      onRenew: () => void this.#renewals.set(handle, renewals + 1),
    };
    try {
      const known = await this.#parts.store.registrations(handle);
      const state = await keepRegistered(this.#parts, member, wanted);
      if (state.kind === "registered" && !known.some((one) => one.url === wanted.storedUrl)) this.#moved(member);
      return state;
    } catch (error) {
      return { kind: "deferred", until: clock.now() + MINUTE, why: messageOf(error) };
    }
  }
}

const SAID: { readonly [kind in Exclude<RegistrationState["kind"], "notNeeded">]: string } = {
  registered: "its webhook is registered; until its first delivery arrives, lists are polled as without one",
  deferred: "has no webhook yet, and polls meanwhile",
};

function isAnother(before: RegistrationState | undefined, now: RegistrationState): boolean {
  return before?.kind === "registered" && now.kind === "registered" && before.webhookId !== now.webhookId;
}

/** Keeps a secret that only this process knows while checks find its webhook in place. */
function withSecretOf(before: RegistrationState | undefined, now: RegistrationState): RegistrationState {
  if (before?.kind !== "registered" || before.secret === undefined) return now;
  if (now.kind === "deferred") return before;
  return now.kind === "registered" && now.webhookId === before.webhookId && now.secret === undefined ? before : now;
}
