/** What a handler does before its effect in a suite that has a model: asks it, and waits for the answer. */
import { Agent, request } from "undici";
import { modelUrl } from "../harness/model.ts";
import { settings } from "./subject.ts";
import type { Delivered } from "./webhook.ts";

const dispatcher = new Agent({ connections: 128, pipelining: 1 });

/** Whether there is a model to ask. */
export const thinks = settings["model"] !== undefined;

/** Throws where the model does not answer 200. */
export async function think({ data: { id } }: Delivered): Promise<void> {
  const { statusCode, body } = await request(`${modelUrl(Number(settings["model"]))}/${id}/${process.pid}`, { method: "POST", dispatcher });
  await body.dump();
  if (statusCode !== 200) throw new Error(`the model answered ${statusCode}`);
}
