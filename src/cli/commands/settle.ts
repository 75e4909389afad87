/** `retinue settle`: records a person's verdict on an action with an unknown outcome. */
import { defined } from "../../core/defined.ts";
import { Misconfigured } from "../../core/errors.ts";
import type { Verdict } from "../../guardian/guardian.ts";
import { flagOption, textOption } from "../args.ts";
import type { GivenOptions } from "../command.ts";
import { orderCommand } from "../order-command.ts";

export const command = orderCommand({
  name: "settle",
  arguments: "<id>",
  describe: "Resolves an action in doubt. Check on the network first: your answer is taken as true.",
  options: [
    { flags: "--happened", describe: "it happened: its consequences are applied" },
    { flags: "--created <id>", describe: "with --happened: the network's id of the created object" },
    { flags: "--did-not", describe: "it did not happen: it is sent again" },
    { flags: "--give-up", describe: "give up: it is not sent again, and its money counts as spent" },
  ],
  examples: ["retinue settle i0f3k9x0b2m4q7w1zd --happened --created post_91"],
  prepare: ({ args: [id = ""], options }) => {
    const order = defined({ id, verdict: verdictOf(options), created: textOption(options, "created") });
    return (guardian) => guardian.settle(order);
  },
});

function verdictOf(options: GivenOptions): Verdict {
  const given = [
    ["happened", flagOption(options, "happened")],
    ["did-not", flagOption(options, "didNot")],
    ["give-up", flagOption(options, "giveUp")],
  ] as const;
  const [first, second] = given.filter(([, is]) => is);
  if (first === undefined || second !== undefined)
    throw new Misconfigured("verdict_missing", "give one verdict", { expected: "one of --happened, --did-not, --give-up" });
  return first[0];
}
