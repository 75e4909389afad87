/** `retinue settle`: a person's word on an action of which nobody knows whether it happened. */
import { defined } from "../../core/defined.ts";
import { Misconfigured } from "../../core/errors.ts";
import type { Verdict } from "../../guardian/guardian.ts";
import { flagOption, textOption } from "../args.ts";
import { EXIT, OPTIONS, type Command, type GivenOptions } from "../command.ts";
import { withGuardian } from "../find-guardian.ts";

export const command: Command = {
  name: "settle",
  arguments: "<id>",
  describe: "Decides an action in doubt. Look on the network first: your word is taken for the truth.",
  options: [
    { flags: "--happened", describe: "it is there: everything that follows from it follows" },
    { flags: "--created <id>", describe: "with --happened: the network's id of what came to be" },
    { flags: "--did-not", describe: "it is not there: it is sent again" },
    { flags: "--give-up", describe: "never mind: it is not sent again, and its money counts as spent" },
    OPTIONS.store,
    OPTIONS.config,
  ],
  examples: ["retinue settle i3k9x0b2m4q7w1zd --happened --created post_91"],
  async run(context) {
    const { args, options, out } = context;
    const verdict = verdictOf(options);
    const created = textOption(options, "created");
    const [id = ""] = args;
    const { message } = await withGuardian(context, (guardian) => guardian.settle(defined({ id, verdict, created })));
    out.line(message);
    out.result({ ok: true, message });
    return EXIT.done;
  },
};

function verdictOf(options: GivenOptions): Verdict {
  const given = [
    ["happened", flagOption(options, "happened")],
    ["did-not", flagOption(options, "didNot")],
    ["give-up", flagOption(options, "giveUp")],
  ] as const;
  const [first, second] = given.filter(([, is]) => is);
  if (first === undefined || second !== undefined)
    throw new Misconfigured("verdict_missing", "say what is true, once", { expected: "one of --happened, --did-not, --give-up" });
  return first[0];
}
