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
    const { said } = await withGuardian(context, (guardian) => guardian.resume(scope));
    out.line(said);
    out.result({ ok: true, said });
    return EXIT.done;
  },
};
