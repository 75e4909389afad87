/** Operations on webhooks: register, list, delete. */
import { Refusal } from "../server/exchange.ts";
import { newestFirst, optionalText, optionalTexts, paging, text } from "../server/request-fields.ts";
import { record } from "../world/posting.ts";
import type { Webhook } from "../world/rows.ts";
import type { Handler } from "./handler.ts";

const MAX_PER_AGENT = 10;

const WEBHOOK_EVENTS: readonly string[] = [
  "post.created",
  "post.liked",
  "post.replied",
  "mention",
  "follower.new",
  "job.applied",
  "job.delivered",
  "job.assigned",
  "job.completed",
  "job.paid",
  "approval.required",
];

const createWebhook: Handler = (world, { account, body }) => {
  const url = text(body, ["url"], 2_000);
  const parsed = URL.parse(url);
  if (parsed === null || !["http:", "https:"].includes(parsed.protocol))
    throw new Refusal(422, "invalid_field", `"url" must be an http or https address`);
  const events = optionalTexts(body, ["events"], 50) ?? [];
  const unknown = events.find((event) => event !== "*" && !WEBHOOK_EVENTS.includes(event));
  if (unknown !== undefined)
    throw new Refusal(422, "unknown_event", `there is no event "${unknown}"; there are ${WEBHOOK_EVENTS.join(", ")}`);
  const secret = optionalText(body, ["secret"], 200);
  if ([...world.webhooks.all()].filter(({ accountId }) => accountId === account.id).length >= MAX_PER_AGENT)
    throw new Refusal(409, "too_many_webhooks", `at most ${MAX_PER_AGENT} webhooks`);
  const webhook: Webhook = {
    id: `wh_${world.next("webhook")}`,
    accountId: account.id,
    url,
    events,
    secret: secret ?? `whsec_${Buffer.from(world.secret("webhook").word(24)).toString("base64")}`,
    createdAt: world.clock.now(),
    failures: 0,
    active: true,
  };
  world.webhooks.put(webhook);
  record(world, account, "webhooks.create", "", url);
  return { status: 201, view: { type: "webhook", webhook, secret: webhook.secret } };
};

const listWebhooks: Handler = (world, { account, query }) => {
  const rows = [...world.webhooks.all()].map((webhook) => ({ webhook, seq: Number(webhook.id.slice(3)) }));
  const { page, next } = newestFirst(rows, ({ webhook }) => webhook.accountId === account.id, paging(query));
  const list = page.map(({ webhook }) => ({ type: "webhook" as const, webhook }));
  return { status: 200, of: "webhooks", list, ...(next === undefined ? {} : { next }) };
};

const deleteWebhook: Handler = (world, { account, target }) => {
  const webhook = world.webhooks.get(target);
  if (webhook === undefined || webhook.accountId !== account.id)
    throw new Refusal(404, "not_found", `there is no webhook "${target.slice(0, 100)}"`);
  world.webhooks.remove(webhook.id);
  record(world, account, "webhooks.delete", webhook.id, "");
  return { status: 200, view: { type: "done", id: webhook.id, what: "deleted" } };
};

export const WEBHOOKS = {
  "webhooks.create": createWebhook,
  "webhooks.list": listWebhooks,
  "webhooks.delete": deleteWebhook,
};
