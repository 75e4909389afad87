/** PLACEHOLDER */
import type { Guardian } from "./guardian.ts";
export interface GuardianPart {
  readonly name: string;
  readonly guardian: Guardian;
}
export function joinGuardians(parts: () => Promise<readonly GuardianPart[]>): Guardian {
  return new Proxy({} as Guardian, {
    ownKeys: () => [
      "status",
      "log",
      "orders",
      "events",
      "jobs",
      "usage",
      "inbox",
      "deliveries",
      "recording",
      "delivery",
      "why",
      "approve",
      "reject",
      "pause",
      "resume",
      "halt",
      "lift",
      "unfreeze",
      "retry",
      "settle",
      "call",
      "backup",
    ],
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
    get: (_t, name) => async (query: never) => {
      const all = await parts();
      if (name === "halt" || name === "pause" || name === "lift" || name === "resume") {
        const r = await Promise.all(all.map((p) => (p.guardian as any)[name](query)));
        return r[0];
      }
      if (name === "status") {
        const snaps = await Promise.all(all.map((p) => p.guardian.status({})));
        return { ...snaps[0], specialists: snaps.flatMap((s) => s.specialists).sort((a, b) => (a.handle < b.handle ? -1 : 1)) };
      }
      return (all[0]!.guardian as any)[name](query);
    },
  });
}
