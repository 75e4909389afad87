/** The effect, as every peer makes it: one POST by undici, its answer read whole. */
import { Agent, request } from "undici";
import { settings } from "./subject.ts";
import type { Delivered } from "./webhook.ts";

const dispatcher = new Agent({ connections: 128, pipelining: 1 });
const headers = { authorization: "Bearer sk_live_bench", "content-type": "application/json" };

/** Throws where the network does not answer 201. */
export async function reply({ data: { id } }: Delivered): Promise<void> {
  const url = `http://127.0.0.1:${settings.sink}/v1/posts/${id}/reply`;
  const { statusCode, body } = await request(url, {
    method: "POST",
    dispatcher,
    headers,
    body: JSON.stringify({ content: `thanks ${id}` }),
  });
  await body.json();
  if (statusCode !== 201) throw new Error(`the network answered ${statusCode}`);
}
