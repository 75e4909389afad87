/** Loads a route for a component, and loads it again when it changes; what is shown stays until the next answer is there. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Change } from "./answers.ts";
import { after, now } from "./browser.ts";
import { loadPause } from "./connection.ts";
import { listenForChanges } from "./live.ts";
import { read, ServerError, sessionCell } from "./server.ts";

export interface Loaded<Answer> {
  readonly data: Answer | undefined;
  /** The last load failed; `data` is of an earlier one. */
  readonly error: ServerError | undefined;
  readonly loading: boolean;
  /** Loads at once. */
  readonly reload: () => void;
}

interface State<Answer> {
  readonly path: string | undefined;
  readonly data: Answer | undefined;
  readonly error: ServerError | undefined;
}

/** `concerns` says which changes load it again; by default all. An undefined path loads nothing. */
export function useLoaded<Answer>(path: string | undefined, concerns: (change: Change) => boolean = () => true): Loaded<Answer> {
  const [state, setState] = useState<State<Answer>>({ path: undefined, data: undefined, error: undefined });
  const load = useRef<() => void>(() => undefined);
  const concern = useRef(concerns);
  concern.current = concerns;
  useEffect(() => {
    if (path === undefined) return;
    const loader = createLoader<Answer>(path, (next) => setState(({ data }) => ({ data, error: undefined, ...next, path })));
    load.current = loader.load;
    loader.load();
    const ends = [
      listenForChanges((change) => void ((change === undefined || concern.current(change)) && loader.load())),
      sessionCell.listen(({ state: session }) => session === "open" && loader.load()),
      loader.end,
    ];
    const seen = (): void => loader.load();
    document.addEventListener("visibilitychange", seen);
    return () => {
      document.removeEventListener("visibilitychange", seen);
      for (const end of ends) end();
    };
  }, [path]);
  const reload = useCallback(() => load.current(), []);
  return { data: state.data, error: state.error, loading: state.path !== path, reload };
}

interface Loader {
  readonly load: () => void;
  readonly end: () => void;
}

/** One load at a time, with a pause after each; a hidden tab waits until it is seen. */
function createLoader<Answer>(path: string, done: (answer: { readonly data: Answer } | { readonly error: ServerError }) => void): Loader {
  const ending = new AbortController();
  let state: "idle" | "busy" | "again" = "idle";
  let cancel = (): void => undefined;
  const run = async (): Promise<void> => {
    const startedAt = now();
    try {
      const data = await read<Answer>(path, ending.signal);
      if (!ending.signal.aborted) done({ data });
    } catch (error) {
      if (ending.signal.aborted) return;
      if (!(error instanceof ServerError)) throw error;
      if (error.status !== 401) done({ error }); // the login says it
    }
    cancel = after(loadPause(now() - startedAt), () => {
      const again = state === "again";
      state = "idle";
      if (again) load();
    });
  };
  const load = (): void => {
    if (ending.signal.aborted || document.hidden) return;
    if (state !== "idle") return void (state = "again");
    state = "busy";
    void run();
  };
  return {
    load,
    end() {
      cancel();
      ending.abort();
    },
  };
}
