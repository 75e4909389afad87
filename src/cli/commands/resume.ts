/** `retinue resume`: ends a pause. */
import { EXIT, OPTIONS, type Command } from "../command.ts";
import { withGuardian } from "../find-guardian.ts";

export const command: Command = {
  name: "resume",
  arguments: "[handle]",
  describe: "Ends a pause, of one specialist or of the one for all.",
  options: [OPTIONS.store, OPTIONS.config],
  examples: ["retinue resume scout"],
  async run(context) {
    const { args, out } = context;
    const scope = args[0] === undefined ? {} : { handle: args[0] };
    const { message } = await withGuardian(context, (guardian) => guardian.resume(scope));
    out.line(message);
    out.result({ ok: true, message });
    return EXIT.done;
  },
};
