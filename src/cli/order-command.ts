/** A command that gives the Guardian one order, and prints its message. */
import { defined } from "../core/defined.ts";
import type { Guardian } from "../guardian/guardian.ts";
import type { OrderResult } from "../guardian/wake-waiting.ts";
import { EXIT, OPTIONS, type Command, type Context } from "./command.ts";
import { withGuardian } from "./find-guardian.ts";

type Order = Omit<Command, "run" | "options"> & {
  /** In addition to those of the store. */
  readonly options?: Command["options"];
  /** Reads the arguments before the store is opened, and returns the order. */
  readonly prepare: (context: Context) => (guardian: Guardian) => Promise<OrderResult>;
};

export function orderCommand({ options = [], prepare, ...command }: Order): Command {
  return {
    ...command,
    options: [...options, OPTIONS.store, OPTIONS.config],
    async run(context) {
      const { message } = await withGuardian(context, prepare(context));
      context.out.line(message);
      context.out.result({ ok: true, message });
      return EXIT.done;
    },
  };
}

/** The handle that limits an order to one specialist. */
export const scopeIn = ({ args: [handle] }: Context): { readonly handle?: string } => defined({ handle });
