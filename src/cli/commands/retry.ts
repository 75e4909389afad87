/** `retinue retry`: retries a parked event or action, once its cause is fixed. */
import { defined } from "../../core/defined.ts";
import { textOption } from "../args.ts";
import { orderCommand } from "../order-command.ts";

export const command = orderCommand({
  name: "retry",
  arguments: "<id>",
  describe:
    "Retries a parked or failed event or action, all that failed of a specialist by its handle, or an operation or specialist that the network made us stop. An action that may have happened is not retried: settle it first.",
  options: [{ flags: "--as <handle>", describe: "the specialist, if the same event failed for several, or the one that is stopped" }],
  examples: ["retinue retry scout", "retinue retry job.assigned:job_17:1", "retinue retry posts.create --as scout"],
  prepare:
    ({ args: [id = ""], options }) =>
    (guardian) =>
      guardian.retry(defined({ id, handle: textOption(options, "as") })),
});
