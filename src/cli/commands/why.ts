/** `retinue why`: which rule holds something back, since when and until when. */
import { EXIT, OPTIONS, type Command } from "../command.ts";
import { withGuardian } from "../guardian.ts";
import { moment } from "../showing.ts";

export const command: Command = {
  name: "why",
  arguments: "<id>",
  describe: "Says why an action or event waits, was refused or is parked: which rule, since when, until when. Takes a handle too.",
  options: [OPTIONS.store, OPTIONS.config],
  examples: ["retinue why i3k9x0b2m4q7w1zd", "retinue why scout"],
  async run(context) {
    const { args, out, clock } = context;
    const why = await withGuardian(context, (guardian) => guardian.why({ id: args[0] ?? "" }));
    const now = clock.now();
    const what = why.about === "specialist" ? why.handle : `${why.handle}: ${why.what}${why.target === undefined ? "" : ` ${why.target}`}`;
    out.line(`${out.paint.bold(what)} is ${why.state}${why.about === "specialist" ? "" : ` since ${moment(why.since, now)}`}`);
    for (const { rule, message, since, until } of why.reasons) {
      out.line(`  ${message === "" ? rule : message} ${out.paint.dim(`(${rule})`)}`);
      if (since !== undefined) out.line(out.paint.dim(`    since ${moment(since, now)}`));
      if (until !== undefined) out.line(out.paint.dim(`    until ${moment(until, now)}`));
    }
    if (why.reasons.length === 0) out.line("  nothing stands in its way");
    if (why.hint !== undefined) out.line(`  ${out.paint.dim("try")} ${why.hint}`);
    out.result({ ok: true, ...why });
    return EXIT.done;
  },
};
