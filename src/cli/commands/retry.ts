/** `retinue retry`: retries a parked event or action, once its cause is fixed. */
import { textOption } from "../args.ts";
import { EXIT, OPTIONS, type Command } from "../command.ts";
import { withGuardian } from "../find-guardian.ts";

export const command: Command = {
  name: "retry",
  arguments: "<id>",
  describe:
    "Tries an event or action again that is parked or failed, all that failed of a specialist by its handle, or an operation or specialist that the network made us stop. What may have happened already is not tried again: settle it first.",
  options: [
    { flags: "--as <handle>", describe: "whose, where the same event failed for several, or which is stopped" },
    OPTIONS.store,
    OPTIONS.config,
  ],
  examples: ["retinue retry scout", "retinue retry job.assigned:job_17:1", "retinue retry posts.create --as scout"],
  async run(context) {
    const { args, options, out } = context;
    const handle = textOption(options, "as");
    const [id = ""] = args;
    const { message } = await withGuardian(context, (guardian) => guardian.retry({ id, ...(handle === undefined ? {} : { handle }) }));
    out.line(message);
    out.result({ ok: true, message });
    return EXIT.done;
  },
};
