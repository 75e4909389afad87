/** Two budgets at once, an hour's and a day's, as each library's docs would have it: `limiter.run(lane, send)`. */
import Bottleneck from "bottleneck";
import PQueue from "p-queue";
import { RateLimiterMemory, RateLimiterUnion } from "rate-limiter-flexible";

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

const reservoir = (amount, every) => new Bottleneck({ reservoir: amount, reservoirRefreshAmount: amount, reservoirRefreshInterval: every });

export const LIMITERS = {
  "bottleneck 2.19.5, hour.chain(day)": ({ perHour, perDay }) => {
    const hour = reservoir(perHour, HOUR_MS);
    hour.chain(reservoir(perDay, DAY_MS));
    return { run: (_lane, send) => hour.schedule(send) };
  },
  "bottleneck 2.19.5, day.chain(hour)": ({ perHour, perDay }) => {
    const day = reservoir(perDay, DAY_MS);
    day.chain(reservoir(perHour, HOUR_MS));
    return { run: (_lane, send) => day.schedule(send) };
  },
  "p-queue 10.0.0, strict, day around hour": ({ perHour, perDay }) => {
    const hour = new PQueue({ interval: HOUR_MS, intervalCap: perHour, strict: true });
    const day = new PQueue({ interval: DAY_MS, intervalCap: perDay, strict: true });
    return { run: (_lane, send) => day.add(() => hour.add(send)) };
  },
  "rate-limiter-flexible 11.4.0, Union": ({ perHour, perDay }) => {
    const hour = new RateLimiterMemory({ keyPrefix: "hour", points: perHour, duration: HOUR_MS / 1_000 });
    const day = new RateLimiterMemory({ keyPrefix: "day", points: perDay, duration: DAY_MS / 1_000 });
    const union = new RateLimiterUnion(hour, day);
    const run = async (lane, send) => {
      for (;;) {
        try {
          await union.consume("key");
          return await send();
        } catch (refusals) {
          const waits = Object.values(refusals).map(({ msBeforeNext }) => msBeforeNext);
          await new Promise((resolve) => setTimeout(resolve, Math.max(1, ...waits)));
        }
      }
    };
    return { run };
  },
};
