/** Who am I: a specialist's own id on the network, learnt once, so that it never answers itself. */
import type { NetworkRecord } from "../contract/records.ts";
import { HOUR } from "../core/units.ts";
import type { Member } from "./member.ts";
import type { Parts } from "./parts.ts";

/** Where it could not be learnt, it is asked for again after this. */
const ASK_AGAIN_MS = HOUR;

/** Asks the network, where the id is neither given nor known. Costs one read, once. */
export async function learnAccount(parts: Parts, member: Member): Promise<void> {
  const now = parts.clock.now();
  if (member.accountId !== undefined || now < member.askAccountAt) return;
  member.askAccountAt = now + ASK_AGAIN_MS;
  const { handle } = member.specialist;
  const byHandle = member.rules.of("agents.get").targetBy === "handle";
  const call = byHandle ? { operation: "agents.get", target: handle, input: {} } : { operation: "agents.list", input: {} };
  const answer = await parts.door.read(member, call, { lane: "watch", signal: parts.ending });
  if (answer.kind === "waits") member.askAccountAt = answer.until;
  if (answer.kind !== "answered" || answer.outcome.class !== "confirmed") return;
  const { record, items = [] } = answer.outcome;
  for (const found of record === undefined ? items : [record]) await learnFrom(parts, member, found);
}

/** The first confirmed post, or a record of the account itself, tells the id as well. */
export async function learnFrom(parts: Parts, member: Member, record: NetworkRecord | undefined): Promise<void> {
  if (member.accountId !== undefined || record === undefined) return;
  const same = (handle: string | undefined): boolean => handle?.toLowerCase() === member.specialist.handle.toLowerCase();
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
