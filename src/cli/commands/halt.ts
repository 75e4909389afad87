/** `retinue halt`: the kill switch for writes. */
import type { Problem } from "../../config/problem.ts";
import { defined } from "../../core/defined.ts";
import { flagOption, textOption } from "../args.ts";
import { EXIT, OPTIONS, type Command } from "../command.ts";
import { problemJson } from "../output.ts";
import { withGuardian } from "../find-guardian.ts";
import { stopEnd } from "../../limits/wait-rules.ts";
import { timeOfDay } from "../output.ts";

export const command: Command = {
  name: "halt",
  arguments: "[handle]",
  describe:
    "Stops every write at once, of one specialist or of all. Lists the writes already in flight, and fails if the halt cannot be stored or a process has not confirmed it.",
  options: [
    { flags: "--lift", describe: "ends it" },
    { flags: "--reason <text>", describe: "stored with it, and shown for everything that waits for it" },
    OPTIONS.store,
    OPTIONS.config,
  ],
  examples: ["retinue halt", "retinue halt scout --reason 'wrong prices'", "retinue halt --lift"],
  async run(context) {
    const { args, options, out } = context;
    const scope = args[0] === undefined ? {} : { handle: args[0] };
    const reason = textOption(options, "reason");
    if (flagOption(options, "lift")) {
      const { message } = await withGuardian(context, (guardian) => guardian.lift(scope));
      out.line(message);
      out.result({ ok: true, message });
      return EXIT.done;
    }
    const { message, inFlight, notKept, incomplete } = await withGuardian(context, (guardian) =>
      guardian.halt(defined({ ...scope, reason })),
    );
    out.line(out.paint.bold(message));
    if (inFlight.length > 0) {
      out.line(`${inFlight.length} in flight already, which nothing can stop:`);
      out.table(inFlight, [
        { title: "id", value: ({ id }) => id ?? "-" },
        { title: "specialist", value: (row) => row.handle },
        { title: "what", value: ({ operation, target }) => (target === undefined ? operation : `${operation} ${target}`) },
        { title: "sent", value: (row) => timeOfDay(row.startedAt) },
        { title: "known by", value: (row) => timeOfDay(row.deadlineAt) },
      ]);
    }
    const problems: readonly Problem[] = [
      ...(notKept === undefined ? [] : [{ level: "error", code: "halt_not_kept", ...notKept } as const]),
      ...(incomplete === undefined ? [] : [{ level: "error", code: "order_incomplete", ...incomplete } as const]),
    ];
    const [problem] = problems;
    if (problem !== undefined) {
      out.problems(problems);
      out.result({ ok: false, message, inFlight, ...defined({ notKept, incomplete }), error: problemJson(problem, context.cwd) });
      return EXIT.failed;
    }
    out.line(out.paint.dim(`${stopEnd("halts", args[0])} ends it`));
    out.result({ ok: true, message, inFlight });
    return EXIT.done;
  },
};
