/** Signed deliveries as bytes, made before the clock starts: of GitHub's form, which all but one of the receivers read, and of Slack's. */
import { createHmac } from "node:crypto";
import { delivered, SECRET, signatureOf } from "../subjects/webhook.ts";

/** Deliveries go to so many specialists in turn. */
export const SPECIALISTS = 64;

export interface DeliveryForm {
  /** Default `post.created`. */
  readonly type?: string;
  /** Length of the words in it. */
  readonly contentLength?: number;
  /** Default `SPECIALISTS`. */
  readonly specialists?: number;
}

export const handleOf = (n: number, { specialists = SPECIALISTS }: DeliveryForm = {}): string => `s${n % specialists}`;

export function githubRequest(n: number, form: DeliveryForm = {}): Buffer {
  const { type = "post.created", contentLength } = form;
  const body = JSON.stringify({ ...delivered(n, contentLength), type });
  const head =
    `POST /webhooks/${handleOf(n, form)} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nuser-agent: GitHub-Hookshot/bench\r\n` +
    `x-github-event: issues\r\nx-github-delivery: delivery-${n}\r\nx-hub-signature-256: ${signatureOf(body)}\r\n`;
  return Buffer.from(`${head}content-length: ${body.length}\r\n\r\n${body}`);
}

/** The same in Slack's form: the signature covers the time, too. */
export function slackRequest(n: number): Buffer {
  const { data } = delivered(n);
  const event = { type: "message", channel: "C1", user: data.author.id, text: data.content, ts: `${n}.0`, channel_type: "channel" };
  const body = JSON.stringify({ type: "event_callback", team_id: "T1", api_app_id: "A1", event_id: `Ev${n}`, event_time: 1, event });
  const seconds = Math.floor(Date.now() / 1_000);
  const signature = createHmac("sha256", SECRET).update(`v0:${seconds}:${body}`).digest("hex");
  const head =
    `POST /webhooks HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nuser-agent: Slackbot/bench\r\n` +
    `x-slack-request-timestamp: ${seconds}\r\nx-slack-signature: v0=${signature}\r\n`;
  return Buffer.from(`${head}content-length: ${body.length}\r\n\r\n${body}`);
}
