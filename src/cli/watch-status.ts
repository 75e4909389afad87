/** `retinue status --watch`: the status again and again, in place on a terminal; elsewhere a line for each matter that comes or ends. */
import { SECOND } from "../core/units.ts";
import { needsOf, type Need } from "../guardian/needs-you.ts";
import type { Snapshot } from "../guardian/status.ts";
import type { Context } from "./command.ts";
import { withGuardian } from "./find-guardian.ts";
import { lookAgain } from "./look-again.ts";
import { createOutput, wantsColour, type Output, type TextStream } from "./output.ts";
import { say } from "./text.ts";

const LOOK_MS = 2 * SECOND;
const DEFAULT_ROWS = 24;

/** The other screen, without a cursor, and without a break of long lines. */
const ENTER = "\u001B[?1049h\u001B[?25l\u001B[?7l";
const LEAVE = "\u001B[?7h\u001B[?25h\u001B[?1049l";
const HOME = "\u001B[H";
const END_OF_LINE = "\u001B[K";
const BELOW = "\u001B[J";

type Show = (snapshot: Snapshot, out: Output) => void;

/** One way to show what was looked at. */
interface Watching {
  take(snapshot: Snapshot): void;
  /** The last look failed: the runtime may be restarting. */
  failed(message: string): void;
  close(): void;
}

/** Ends on Ctrl-C, with the last state. Throws as a single status does if the first look fails. */
export async function watchStatus(context: Context, show: Show): Promise<Snapshot> {
  const { terminal } = context.out;
  let watching: Watching | undefined;
  try {
    return await lookAgain(context, {
      everyMs: LOOK_MS,
      look: (within) => withGuardian(within, (guardian) => guardian.status({})),
      take(snapshot) {
        watching ??= terminal === undefined ? watchLines(context, show) : watchScreen(context, terminal, show);
        watching.take(snapshot);
      },
      failed: (message) => watching?.failed(message),
    });
  } finally {
    watching?.close();
  }
}

function watchScreen({ cwd, env }: Context, terminal: TextStream, show: Show): Watching {
  let last: Snapshot | undefined;
  let trouble: string | undefined;
  const draw = (): void => {
    if (last === undefined) return;
    const lines: string[] = [];
    const page: TextStream = {
      write: (text) => lines.push(...text.replace(/\n$/, "").split("\n")),
      isTTY: true,
      columns: terminal.columns ?? 80,
    };
    const out = createOutput({ json: false, colour: wantsColour(terminal, env), stdout: page, stderr: page, cwd });
    if (trouble !== undefined) out.line(out.paint.red(`No answer now, and tried again; this is the last state: ${trouble}`));
    show(last, out);
    const room = Math.max(1, (terminal.rows ?? DEFAULT_ROWS) - 1);
    const shown =
      lines.length > room ? [...lines.slice(0, room - 1), `… ${lines.length - room + 1} more lines; a higher window shows them`] : lines;
    terminal.write(HOME + shown.map((line) => line + END_OF_LINE).join("\r\n") + BELOW);
  };
  const leave = (): void => void terminal.write(LEAVE);
  process.on("SIGWINCH", draw);
  process.on("exit", leave); // also when a second signal ends the process at once
  terminal.write(ENTER);
  return {
    take(snapshot) {
      last = snapshot;
      trouble = undefined;
      draw();
    },
    failed(message) {
      trouble = message;
      draw();
    },
    close() {
      process.off("SIGWINCH", draw);
      process.off("exit", leave);
      leave();
    },
  };
}

/** On a pipe. Matters of a silent process of a fleet may wait unseen: they are not told as ended. */
export function watchLines({ out, clock }: Pick<Context, "out" | "clock">, show: Show): Watching {
  let known: ReadonlyMap<string, Need> | undefined;
  let wasRunning = false;
  let trouble: string | undefined;
  const change = (at: number, kind: "came" | "ended", need: Need): void =>
    out.progress(
      { type: "need", change: kind, at, need },
      say`${out.time(at)}  ${kind === "came" ? "needs you" : "ended"}: ${need.title}: ${need.message}`,
    );
  const begin = (snapshot: Snapshot, needs: number): void => {
    show(snapshot, out);
    const { at } = snapshot;
    out.progress({ type: "watching", at, needs }, `${out.time(at)}  a line for each change from here on, until Ctrl-C`);
  };
  return {
    take(snapshot) {
      const { at, running, unseen, unseenHandles = [] } = snapshot;
      const needs = new Map(needsOf(snapshot).needs.map((need) => [need.key, need]));
      for (const [key, need] of known ?? [])
        if (!needs.has(key) && need.handle !== undefined && unseenHandles.includes(need.handle)) needs.set(key, need);
      if (known === undefined) begin(snapshot, needs.size);
      else {
        for (const [key, need] of needs) if (!known.has(key)) change(at, "came", need);
        for (const [key, need] of known) if (!needs.has(key)) change(at, "ended", need);
        if (wasRunning !== (running !== undefined))
          out.progress(
            { type: "running", at, running: running !== undefined },
            `${out.time(at)}  ${running === undefined ? "the runtime ended" : "a runtime started"}`,
          );
      }
      if (unseen !== undefined && unseen !== trouble)
        out.progress({ type: "unanswered", at, message: unseen }, say`${out.time(at)}  a part of the fleet is not seen now: ${unseen}`);
      [known, wasRunning, trouble] = [needs, running !== undefined, unseen];
    },
    failed(message) {
      const at = clock.now();
      if (message !== trouble)
        out.progress({ type: "unanswered", at, message }, say`${out.time(at)}  no answer now, and tried again: ${message}`);
      trouble = message;
    },
    close: () => out.flush(),
  };
}
