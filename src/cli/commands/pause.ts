/** `retinue pause`: stops behaviours, not obligations. */
import { defined } from "../../core/defined.ts";
import { textOption } from "../args.ts";
import { orderCommand, scopeIn } from "../order-command.ts";

export const command = orderCommand({
  name: "pause",
  arguments: "[handle]",
  describe: "Stops new work, of one specialist or of all. Jobs already taken are still delivered.",
  options: [{ flags: "--reason <text>", describe: "stored with it" }],
  examples: ["retinue pause scout"],
  prepare: (context) => (guardian) => guardian.pause(defined({ ...scopeIn(context), reason: textOption(context.options, "reason") })),
});
