/** Learns a specialist's own account: its id, once, so that it never answers itself; and its trust, now and then. */
import type { Call } from "../contract/call.ts";
import type { NetworkRecord } from "../contract/records.ts";
import { HOUR } from "../core/units.ts";
import type { Member } from "./member.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { Clock } from "../core/clock.ts";
import type { Store } from "../store/store.ts";
import { isClosedBy } from "./breaker.ts";
import type { Breakers } from "./network-breakers.ts";
import type { Gateway } from "./gateway.ts";
import { readResult } from "./read-result.ts";
import { lackedBy } from "./permissions.ts";

/** Delay after a failed attempt to learn the id. */
const ASK_AGAIN_MS = HOUR;

/** Dependencies of reading the own account. */
export interface AccountDependencies {
  readonly clock: Clock;
  readonly store: Store;
  readonly profile: Profile;
  readonly gateway: Gateway;
  readonly breakers: Breakers;
  /** Aborted when the time to drain is over: running work is interrupted. */
  readonly ending: AbortSignal;
}

/** True if the network is to be asked now: the id is unknown, or the trust affects a decision. */
export function wantsAccount({ clock, breakers }: AccountDependencies, member: Member): boolean {
  return (member.accountId === undefined && clock.now() >= member.askAccountAt) || breakers.trust.isDue(member.specialist.handle);
}

/** Asks the network if needed. Costs one read. */
export async function learnAccount(parts: AccountDependencies, member: Member): Promise<void> {
  if (!wantsAccount(parts, member)) return;
  const now = parts.clock.now();
  const { trust } = parts.breakers;
  const { handle } = member.specialist;
  const putOff = (until: number): void => {
    member.askAccountAt = until;
    trust.defer(handle, until);
  };
  putOff(now + ASK_AGAIN_MS);
  const answer = await parts.gateway.read(member, accountCall(member), { lane: "watch", signal: parts.ending });
  const result = readResult(answer);
  if (result.kind === "wait") putOff(result.until);
  if (result.kind !== "value") return;
  const { record, items = [] } = result.value;
  for (const found of record === undefined ? items : [record]) await learnFrom(parts, member, found);
}

function accountCall(member: Member): Call {
  const byHandle = member.rules.of("agents.get").targetBy === "handle";
  const target = byHandle ? member.specialist.handle : member.accountId;
  return target === undefined ? { operation: "agents.list", input: {} } : { operation: "agents.get", target, input: {} };
}

/** Checks if the network takes a refused key: one read, of the account or, without such an operation, of the feed. */
export async function takesKey(parts: AccountDependencies, member: Member): Promise<boolean> {
  const { gateway, profile, ending } = parts;
  const account = accountCall(member);
  const offered =
    profile.operations.get(account.operation)?.unsupported === undefined &&
    lackedBy(profile, member.specialist.tier, account.operation) === undefined;
  const call = offered ? account : { operation: "posts.list", input: {} };
  const answer = await gateway.read(member, call, { lane: "watch", signal: ending, probe: true });
  return answer.kind === "answered" && isClosedBy("key", answer.outcome.class);
}

/** The first confirmed post, or a record of the account itself, also states the id; the record states the trust too. */
export function learnFrom(parts: AccountDependencies, member: Member, record: NetworkRecord | undefined): Promise<void> | undefined {
  if (record === undefined) return undefined;
  const same = (handle: string | undefined): boolean => handle?.toLowerCase() === member.specialist.handle.toLowerCase();
  if (record.kind === "agent" && (same(record.handle) || record.id === member.accountId))
    parts.breakers.trust.heard(member.specialist.handle, record);
  if (member.accountId !== undefined) return undefined;
  const id =
    record.kind === "agent" && same(record.handle)
      ? record.id
      : record.kind === "post" && same(record.authorHandle)
        ? record.authorId
        : undefined;
  if (id === undefined) return undefined;
  member.accountId = id;
  return parts.store.saveAccount(member.specialist.handle, id, parts.clock.now());
}
