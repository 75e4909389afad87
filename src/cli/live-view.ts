/** Shows a live view of a working runtime on the terminal's alternate screen. */
import type { EndpointSet } from "../contract/operations.ts";
import type { Clock, Timer } from "../core/clock.ts";
import { messageOf } from "../core/errors.ts";
import type { Announcer } from "../core/events.ts";
import type { AtWork } from "./at-work.ts";
import type { SpecialistShown } from "../guardian/status.ts";
import { frame, type Held, type Place } from "./frame.ts";
import type { TextStream } from "./output.ts";
import { createFilter, listenToAll, type Action } from "./progress.ts";
import type { NetworkSummary } from "./run-summary.ts";
import { printable, type Paint, type Text } from "./text.ts";

export interface LiveViewOptions {
  readonly terminal: TextStream;
  readonly paint: Paint;
  readonly clock: Clock;
  readonly announcer: Announcer;
  readonly launched: AtWork;
  readonly set: EndpointSet;
  readonly endsAt: number | undefined;
  readonly places: readonly Place[];
  /** Only for a network that this process runs itself. */
  readonly totals?: () => NetworkSummary;
}

export interface LiveView {
  /** Adds a log line to the latest events. */
  note(text: Text): void;
  /** Shows from now on that it stops. */
  stopping(): void;
  /** Restores the terminal. */
  close(): void;
}

const DRAW_MS = 250;
/** Interval of queries to the store, which also never take more than a small share of the time. */
const ASK_MS = 1_000;
const ASKING_SHARE = 0.05;
const MAX_ACTIONS = 200;
const DEFAULT_SIZE = { columns: 80, rows: 24 };

const ENTER = "\u001B[?1049h\u001B[?25l";
const LEAVE = "\u001B[?25h\u001B[?1049l";
const HOME = "\u001B[H";
const END_OF_LINE = "\u001B[K";
const BELOW = "\u001B[J";

export function openLiveView(options: LiveViewOptions): LiveView {
  const { terminal, paint, clock, announcer, launched } = options;
  const startedAt = clock.now();
  const actions: Action[] = [];
  const held = new Map<string, Held>();
  let specialists: readonly SpecialistShown[] = [];
  let stopping = false;
  let closed = false;
  let drawing: Timer | undefined;
  let asking: Timer | undefined;

  const add = (action: Action): void => {
    actions.unshift(action);
    actions.length = Math.min(actions.length, MAX_ACTIONS);
  };
  const filter = createFilter();
  const silence = listenToAll(announcer, (name, what) => {
    if (name === "wait" && "rule" in what) held.set(what.handle, { until: what.until, message: what.message });
    filter.take(name, what).forEach(add);
  });

  const draw = (): void => {
    if (closed) return;
    const size = { columns: terminal.columns ?? DEFAULT_SIZE.columns, rows: terminal.rows ?? DEFAULT_SIZE.rows };
    const { set, endsAt, places } = options;
    const totals = options.totals?.();
    const { baseUrl, runtime } = launched;
    const handles = runtime.members().map(({ specialist: { handle } }) => handle);
    const told = new Set<string>(handles.filter((handle) => runtime.parts.coverage.of(handle).state === "healthy"));
    const lines = frame(
      { now: clock.now(), startedAt, endsAt, set, baseUrl, stopping, specialists, held, told, actions, places, totals },
      size,
      paint,
    );
    terminal.write(HOME + lines.map((line) => printable(line).text + END_OF_LINE).join("\r\n") + BELOW);
    drawing = clock.after(DRAW_MS, draw);
  };
  let hasAsked = false;
  const ask = async (): Promise<void> => {
    const began = clock.monotonic();
    try {
      specialists = await launched.shown();
    } catch (error) {
      if (!closed) add({ at: clock.now(), handle: "", told: { text: messageOf(error), tone: "bad" } });
    }
    // The first answer waits for the thread that reads: its time says nothing of the next.
    const tookMs = hasAsked ? clock.monotonic() - began : 0;
    hasAsked = true;
    if (!closed) asking = clock.after(Math.max(ASK_MS, tookMs / ASKING_SHARE), () => void ask());
  };

  const leave = (): void => void terminal.write(LEAVE);
  process.on("exit", leave); // also when a second signal ends the process at once
  terminal.write(ENTER);
  draw();
  void ask();
  return {
    note: (text) => add({ at: clock.now(), handle: "", told: { text: String(text), tone: "quiet" } }),
    stopping() {
      stopping = true;
    },
    close() {
      if (closed) return;
      closed = true;
      drawing?.cancel();
      asking?.cancel();
      silence();
      process.off("exit", leave);
      leave();
    },
  };
}
