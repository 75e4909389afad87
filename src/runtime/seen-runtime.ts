/** The part of a runtime, or of several as one, that the interfaces for people see. */
import type { TrustBreakers } from "../gateway/trust.ts";
import type { UnkeptHalts } from "../gateway/unkept-halts.ts";
import type { HistoryStore } from "../store/history.ts";
import type { NetworkStateStore } from "../store/network-state.ts";
import type { PeopleReads } from "../store/people-reads.ts";
import type { Dependencies } from "./dependencies.ts";
import type { Runtime } from "./runtime.ts";

export interface SeenRuntime extends Pick<Runtime, "members" | "phase"> {
  /** True if it has given its specialists to other processes, and takes none. */
  readonly isDrained?: boolean;
  /**
   * The term in which this process tells people what waits for them, a new one whenever another of the fleet may have done so meanwhile.
   * Undefined while another does.
   */
  readonly tellingTerm?: () => number | undefined;
  readonly parts: Pick<Dependencies, "clock" | "profile" | "zone" | "writes" | "storeLost"> & {
    readonly breakers: { readonly trust: Pick<TrustBreakers, "of" | "report"> };
    readonly coverage: { of(handle: string): { readonly state: string } };
    readonly unkeptHalts: Pick<UnkeptHalts, "all">;
    readonly store: NetworkStateStore & { readonly reads: Pick<PeopleReads, "backlog"> & Pick<HistoryStore, "eventOf"> };
  };
}
