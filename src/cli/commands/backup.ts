/** `retinue backup`: writes a consistent copy of the store, also while it is in use. */
import { isAbsolute, join } from "node:path";
import { EXIT, OPTIONS, type Command } from "../command.ts";
import { withGuardian } from "../find-guardian.ts";

export const command: Command = {
  name: "backup",
  arguments: "<file>",
  describe: "Writes a consistent copy of the store, even while it is in use. The copy holds no key. Never run a copy beside its original.",
  options: [OPTIONS.store, OPTIONS.config],
  examples: ["retinue backup backups/store-monday.sqlite"],
  async run(context) {
    const { args, out, cwd } = context;
    const [name = ""] = args;
    const file = isAbsolute(name) ? name : join(cwd, name);
    const { message } = await withGuardian(context, (guardian) => guardian.backup({ file }));
    out.line(message);
    out.result({ ok: true, message, file });
    return EXIT.done;
  },
};
