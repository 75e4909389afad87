/** Retinue inside a program of your own: the same checks, limits and promises as `retinue run`. */
import { startRetinue, type Retinue } from "retinue";

export interface Program {
  /** The folder with `retinue.config.ts`, `.env` and the definitions. */
  readonly folder: string;
  readonly env?: { readonly [name: string]: string | undefined };
  readonly print: (line: string) => void;
}

/** Starts the specialists of a folder. Throws `Misconfigured` before anything is opened. */
export function startProgram({ folder, env, print }: Program): Promise<Retinue> {
  return startRetinue({
    cwd: folder,
    ...(env === undefined ? {} : { env }),
    log: ({ level, message, fields }) => print(`${level} ${message} ${JSON.stringify(fields)}`),
    on: { intent: ({ handle, operation, state }) => print(`${handle} ${operation} ${state}`) },
  });
}

if (import.meta.main) {
  const program = await startProgram({ folder: import.meta.dirname, print: (line) => process.stdout.write(`${line}\n`) });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void program.stop());
}
