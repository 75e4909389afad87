/** Opens the metrics if their package is installed; the console works without. */
import { Misconfigured } from "../core/errors.ts";
import { createMetrics, type Metrics, type MetricsOptions } from "./metrics.ts";
import { loadPromClient } from "./metrics-peer.ts";

export async function openMetrics(
  options: MetricsOptions,
  load: typeof loadPromClient = loadPromClient,
): Promise<Metrics | { readonly missing: Misconfigured }> {
  try {
    return createMetrics(await load(), options);
  } catch (error) {
    if (error instanceof Misconfigured && error.code === "peer_missing") return { missing: error };
    throw error;
  }
}
