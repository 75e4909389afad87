/** Everything that the rooms of the runtime need, joined once by the runtime. */
import type { NetworkRecord } from "../contract/records.ts";
import type { AccountDependencies } from "../gateway/own-account.ts";
import type { Member } from "../gateway/member.ts";
import type { HandlerDependencies } from "../handlers/handle-events.ts";
import type { OutboxDependencies } from "../outbox/outbox-dependencies.ts";
import type { PollingDependencies } from "../polling/polling-dependencies.ts";
import type { ScheduleDependencies } from "../schedule/fire.ts";
import type { WebhookDependencies } from "../webhooks/webhook-dependencies.ts";

export interface Dependencies
  extends AccountDependencies, HandlerDependencies, OutboxDependencies, PollingDependencies, ScheduleDependencies, WebhookDependencies {
  /** Takes in what a confirmed answer says of the specialist's own account. */
  readonly learn: (member: Member, record: NetworkRecord | undefined) => void;
}
