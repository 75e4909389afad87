/** The other side of `harness/subject.ts`: says that it is ready, answers what it is asked, stops when it is told. */

export interface Settings {
  readonly sink: number;
  readonly [name: string]: unknown;
}

export const settings = readSettings();

export interface Ready {
  readonly port: number;
  /** Further questions by name. */
  readonly answers?: Readonly<Record<string, () => unknown>>;
  /** Gives back what was opened. */
  readonly stop?: () => unknown;
  /** At SIGTERM: the orderly end, as its docs describe it, with what is under way. Default: that of Node. */
  readonly drain?: () => unknown;
}

export function ready({ port, answers = {}, stop, drain }: Ready): void {
  process.on("message", (question) => void answer(String(question)));
  process.on("disconnect", () => process.exit(0));
  if (drain !== undefined) process.once("SIGTERM", () => void Promise.resolve(drain()).then(() => process.exit(0)));
  process.send?.({ port });

  const answer = async (question: string): Promise<void> => {
    if (question === "stop") {
      await stop?.();
      process.exit(0);
    }
    process.send?.(question === "usage" ? usage() : ((await answers[question]?.()) ?? {}));
  };
}

function usage(): Record<string, number> {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  return { cpuMs: (user + system) / 1_000, rssMb: rss / 1_048_576, heapMb: heapUsed / 1_048_576 };
}

function readSettings(): Settings {
  const given: unknown = JSON.parse(process.argv[2] ?? "{}");
  if (typeof given !== "object" || given === null) throw new Error("expected the settings as JSON");
  return { sink: 0, ...given };
}
