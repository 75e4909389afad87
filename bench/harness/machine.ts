/** The machine a measurement was made on, so that nobody reads its figures as another machine's. */
import { cpus, loadavg, platform, release, totalmem } from "node:os";

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
  /** Over the last minute, before anything was measured: above 0.3 others were at work too. */
  readonly loadBefore: number;
}

export function describeMachine(): Machine {
  const all = cpus();
  return {
    cpu: all[0]?.model.trim() ?? "unknown",
    cores: all.length,
    memoryGb: Math.round(totalmem() / 1_073_741_824),
    system: `${platform()} ${release()}`,
    node: process.version,
    loadBefore: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  };
}

export function machineLine({ cpu, cores, memoryGb, system, node, loadBefore }: Machine): string {
  return `${cpu}, ${cores} cores, ${memoryGb} GB, ${system}, Node ${node}, load before ${loadBefore}`;
}
