/** `retinue resume`: ends a pause. */
import { orderCommand, scopeIn } from "../order-command.ts";

export const command = orderCommand({
  name: "resume",
  arguments: "[handle]",
  describe: "Ends a pause, of one specialist or of the one for all.",
  examples: ["retinue resume scout"],
  prepare: (context) => (guardian) => guardian.resume(scopeIn(context)),
});
