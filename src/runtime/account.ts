/** Who am I: a specialist's own id on the network, learnt once, so that it never answers itself; and its trust, now and then. */
import type { NetworkRecord } from "../contract/records.ts";
import { HOUR } from "../core/units.ts";
import type { Member } from "./member.ts";
import type { Parts } from "./parts.ts";

/** Where it could not be learnt, it is asked for again after this. */
const ASK_AGAIN_MS = HOUR;

/** Whether the network is to be asked now: where the id is neither given nor known, or its trust decides something. */
export function wantsAccount({ clock, standing }: Parts, member: Member): boolean {
  return (member.accountId === undefined && clock.now() >= member.askAccountAt) || standing.trust.isDue(member.specialist.handle);
}

/** Asks the network, where that is wanted. Costs one read. */
export async function learnAccount(parts: Parts, member: Member): Promise<void> {
  if (!wantsAccount(parts, member)) return;
  const now = parts.clock.now();
  const { trust } = parts.standing;
  const { handle } = member.specialist;
  const putOff = (until: number): void => {
    member.askAccountAt = until;
    trust.putOff(handle, until);
  };
  putOff(now + ASK_AGAIN_MS);
  const byHandle = member.rules.of("agents.get").targetBy === "handle";
  const target = byHandle ? handle : member.accountId;
  const call = target === undefined ? { operation: "agents.list", input: {} } : { operation: "agents.get", target, input: {} };
  const answer = await parts.door.read(member, call, { lane: "watch", signal: parts.ending });
  if (answer.kind === "waits") putOff(answer.until);
  if (answer.kind !== "answered" || answer.outcome.class !== "confirmed") return;
  const { record, items = [] } = answer.outcome;
  for (const found of record === undefined ? items : [record]) await learnFrom(parts, member, found);
}

/** The first confirmed post, or a record of the account itself, tells the id as well; the record also tells its trust. */
export async function learnFrom(parts: Parts, member: Member, record: NetworkRecord | undefined): Promise<void> {
  if (record === undefined) return;
  const same = (handle: string | undefined): boolean => handle?.toLowerCase() === member.specialist.handle.toLowerCase();
  if (record.kind === "agent" && (same(record.handle) || record.id === member.accountId))
    parts.standing.trust.heard(member.specialist.handle, record);
  if (member.accountId !== undefined) return;
  const id =
    record.kind === "agent" && same(record.handle)
      ? record.id
      : record.kind === "post" && same(record.authorHandle)
        ? record.authorId
        : undefined;
  if (id === undefined) return;
  member.accountId = id;
  await parts.store.saveAccount(member.specialist.handle, id, parts.clock.now());
}
