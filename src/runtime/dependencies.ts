/** The dependencies of all rooms, joined once by the runtime. */
import type { NetworkRecord } from "../contract/records.ts";
import type { Handle } from "../core/ids.ts";
import type { AccountDependencies } from "../gateway/own-account.ts";
import type { KeyTrouble, Member } from "../gateway/member.ts";
import type { UnkeptHalts } from "../gateway/unkept-halts.ts";
import type { HandlerDependencies } from "../handlers/handle-events.ts";
import type { OutboxDependencies } from "../outbox/outbox-dependencies.ts";
import type { PollingDependencies } from "../polling/polling-dependencies.ts";
import type { Caps } from "../specialist/specialist.ts";
import type { ScheduleDependencies } from "../schedule/fire.ts";
import type { LostStore } from "../store/store-lost.ts";
import type { WebhookDependencies } from "../webhooks/webhook-dependencies.ts";

export interface Dependencies
  extends AccountDependencies, HandlerDependencies, OutboxDependencies, PollingDependencies, ScheduleDependencies, WebhookDependencies {
  readonly unkeptHalts: UnkeptHalts;
  /** `refuse` in a dry run. */
  readonly writes?: "send" | "refuse" | undefined;
  /** Caps on the spending of all specialists together. */
  readonly guardianCaps?: Caps | undefined;
  /** Specialists of the store that must not run here, with the reason. Default: there are none. */
  readonly keptOut?: (() => ReadonlyMap<Handle, KeyTrouble>) | undefined;
  /** The reason if the store can no longer be written. */
  readonly storeLost: () => LostStore | undefined;
  /** Records data of the specialist's own account from a confirmed answer. */
  readonly learn: (member: Member, record: NetworkRecord | undefined) => void;
}
