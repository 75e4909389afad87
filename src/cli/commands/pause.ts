/** `retinue pause`: stops behaviours, not obligations. */
import { textOption } from "../args.ts";
import { EXIT, OPTIONS, type Command } from "../command.ts";
import { withGuardian } from "../find-guardian.ts";

export const command: Command = {
  name: "pause",
  arguments: "[handle]",
  describe: "Stops new work, of one specialist or of all. Jobs already taken are still delivered.",
  options: [{ flags: "--reason <text>", describe: "stored with it" }, OPTIONS.store, OPTIONS.config],
  examples: ["retinue pause scout"],
  async run(context) {
    const { args, options, out } = context;
    const reason = textOption(options, "reason");
    const scope = args[0] === undefined ? {} : { handle: args[0] };
    const { message } = await withGuardian(context, (guardian) =>
      guardian.pause({ ...scope, ...(reason === undefined ? {} : { reason }) }),
    );
    out.line(message);
    out.result({ ok: true, message });
    return EXIT.done;
  },
};
