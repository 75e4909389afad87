/** Limits in headers: every known dialect is read, garbage is none, and no header makes an endless or negative wait. */
import { describe, expect, test } from "vitest";
import { limitReader } from "../../src/client/rate-limit-headers.ts";
import type { WireHeaders } from "../../src/client/transport.ts";
import { resolveProfile, shippedProfile } from "../../src/contract/profile/profile.ts";
import { HOUR } from "../../src/core/units.ts";

const NOW = Date.UTC(2026, 0, 1);
const { limitHeaders: names, errors } = shippedProfile("b");
const reader = limitReader(names, errors.waitUnit);

describe("retry-after", () => {
  test.each([
    ["30", 30_000],
    [" 30 ", 30_000],
    ["1.5", 1_500],
    ["0", 0],
    ["-5", 0],
    ["99999999999999999999", Number.MAX_SAFE_INTEGER],
    ["soon", undefined],
    ["", undefined],
    ["NaN", undefined],
    ["Infinity", undefined],
    ["1e9", undefined],
    ["0x10", undefined],
    ["3; 4", undefined],
    [new Date(NOW + 60_000).toUTCString(), 60_000],
    [new Date(NOW - 60_000).toUTCString(), 0],
    ["Thursday, 01-Jan-26 00:01:00 GMT", 60_000],
  ])("%j is %j", (header, expected) => {
    expect(reader.retryAfterMs({ "retry-after": header }, NOW, undefined)).toBe(expected);
  });

  test.each<[unknown, number | undefined]>([
    [12, 12_000],
    ["12", 12_000],
    [-1, 0],
    [Infinity, undefined],
    [true, undefined],
    [null, undefined],
    [{ seconds: 5 }, undefined],
    ["x".repeat(100), undefined],
  ])("in the body, %j is %j", (body, expected) => {
    expect(reader.retryAfterMs({}, NOW, body)).toBe(expected);
  });

  test("the header wins over the body, and its first value over a repeated one", () => {
    expect(reader.retryAfterMs({ "retry-after": ["5", "60"] }, NOW, 12)).toBe(5_000);
    expect(reader.retryAfterMs({ "retry-after": "soon" }, NOW, 12)).toBe(12_000);
  });
});

describe("limit headers", () => {
  test.each<[WireHeaders, object | undefined]>([
    [{}, undefined],
    [{ "x-ratelimit-remaining": "7" }, { remaining: 7 }],
    [{ "x-ratelimit-remaining": "-1" }, { remaining: 0 }],
    [{ "x-ratelimit-remaining": "lots" }, undefined],
    [
      { "ratelimit-remaining": "7", "ratelimit-reset": "60" },
      { remaining: 7, resetMs: 60_000 },
    ],
    [{ "x-ratelimit-reset": String(NOW / 1_000 + 90) }, { resetMs: 90_000 }],
    [{ "x-ratelimit-reset": String(NOW + 90_000) }, { resetMs: 90_000 }],
    [{ "x-ratelimit-reset": new Date(NOW + 90_000).toISOString() }, { resetMs: 90_000 }],
    [
      { "x-ratelimit-remaining": "7", "x-ratelimit-limit": "10" },
      { remaining: 7, limit: 10 },
    ],
    [
      { ratelimit: '"burst";r=3;t=60', "ratelimit-policy": '"burst";q=10;w=300' },
      { remaining: 3, windowMs: 300_000, resetMs: 60_000 },
    ],
    [
      { "x-ratelimit-remaining-hour": "3", "x-ratelimit-remaining-day": "30" },
      { remainingHour: 3, remainingDay: 30 },
    ],
    [{ ratelimit: '"daily";r=30;t=3600, "hourly";r=3;t=60' }, { remainingHour: 3, remainingDay: 30, resetMs: 60_000 }],
    [
      { ratelimit: '"a";r=3;t=60, "b";r=30', "ratelimit-policy": '"a";q=60;w=3600, "b";q=500;w=86400' },
      { remainingHour: 3, remainingDay: 30, resetMs: 60_000 },
    ],
    [{ ratelimit: "default;r=5;t=10" }, { remaining: 5, resetMs: 10_000 }],
    [{ ratelimit: "limit=100, remaining=50, reset=5" }, { remaining: 50, resetMs: 5_000 }],
    [{ ratelimit: `"x";r=${"9".repeat(2_000)}` }, undefined],
    [{ ratelimit: "rubbish" }, undefined],
    [{ "x-ratelimit-remaining": ["4", "9"] }, { remaining: 4 }],
    [{ "x-ratelimit-remaining": "7.9" }, { remaining: 7 }],
    [{ ratelimit: '"a";r=9, "b";r=3' }, { remaining: 3 }],
    [{ ratelimit: Array.from({ length: 40 }, (_, i) => `"n${i}";r=${40 - i}`).join(", ") }, { remaining: 31 }],
    [{ "x-ratelimit-reset": "9".repeat(16) }, { resetMs: Number.MAX_SAFE_INTEGER }],
    [{ "x-ratelimit-reset": String(NOW / 1_000 - 90) }, { resetMs: 0 }],
  ])("%j say %j", (headers, expected) => {
    expect(reader.hints(headers, NOW)).toEqual(expected);
  });

  test("a profile's own header counts in the window that the profile states", () => {
    const { limitHeaders } = resolveProfile({ extends: "set-b", limitHeaders: { remaining: ["x-left"], windowMs: "1h" } });
    expect(limitReader(limitHeaders, errors.waitUnit).hints({ "x-left": "3" }, NOW)).toEqual({ remaining: 3, windowMs: HOUR });
  });
});
