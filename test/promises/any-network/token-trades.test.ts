/** Networks that trade the key in a body or a header of their own, among them OAuth's client credentials. */
import { expect, onTestFinished, test } from "vitest";
import type { WireAnswer, WireRequest } from "../../../src/client/transport.ts";
import { resolveProfile } from "../../../src/contract/profile/profile.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { HOUR, MINUTE } from "../../../src/core/units.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { createSpecialist } from "../../../src/specialist/specialist.ts";
import { virtualRuntime } from "../../harness/harness.ts";

const KEY = "a-client-secret-&-more";
const LIFETIME_MS = 10 * MINUTE;

/** A reader on a network whose trades are judged by `isTrade`, and whose reads want the token in `x-access-token`. */
async function reading(profile: object, isTrade: (request: WireRequest, refresh: string | undefined) => boolean) {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const trades: string[] = [];
  const refused: string[] = [];
  let token = { access: "", refresh: "", until: 0 };
  let reads = 0;
  let leaked = 0;
  const answer = (status: number, body: object): WireAnswer => ({
    kind: "answer",
    status,
    headers: {},
    text: JSON.stringify(body),
    elapsedMs: 1,
  });
  const runtime = virtualRuntime({
    clock,
    random: seededRandom(2),
    profile: resolveProfile({ extends: "set-a", ...profile }),
    specialists: [createSpecialist({ handle: "reader", tier: "pro", watch: { feed: true }, on: { "post.created": () => undefined } })],
    transport: async (request) => {
      const [path = ""] = request.path.split("?", 1);
      if (path.startsWith("/oauth/")) {
        trades.push(path);
        if (!isTrade(request, path === "/oauth/refresh" ? token.refresh : undefined)) {
          refused.push(JSON.stringify(request));
          return answer(400, { error: "invalid_client", error_description: "who are you?" });
        }
        const nth = trades.length;
        token = { access: `access-token-${nth}`, refresh: `refresh-token-${nth}`, until: clock.now() + LIFETIME_MS };
        return answer(200, {
          access_token: token.access,
          refresh_token: token.refresh,
          token_type: "bearer",
          expires_in: LIFETIME_MS / 1_000,
        });
      }
      if (JSON.stringify(request).includes("a-client-secret")) leaked += 1;
      if (request.headers["x-access-token"] !== token.access || clock.now() >= token.until) return answer(401, { error: "invalid_token" });
      reads += 1;
      return answer(200, path.startsWith("/v1/agents") ? { agents: [{ id: "me", handle: "reader" }] } : { posts: [] });
    },
    keyOf: () => KEY,
  });
  await clock.run(runtime.start());
  onTestFinished(() => clock.run(runtime.stop()));
  await clock.advance(HOUR);
  return { trades, refused, reads, leaked };
}

test("a client's credentials are traded in a form, and refreshed, and travel nowhere else", async () => {
  const { trades, refused, reads, leaked } = await reading(
    {
      auth: { header: "x-access-token", prefix: "", exchange: true, trade: { header: null } },
      operations: {
        "auth.token": {
          path: "/oauth/token",
          encoding: "form",
          body: { grant_type: "client_credentials", client_id: "retinue", client_secret: "{key}" },
        },
        "auth.refresh": {
          path: "/oauth/refresh",
          encoding: "form",
          body: { grant_type: "refresh_token", refresh_token: "{refreshToken}" },
        },
      },
    },
    ({ headers, body }, refresh) => {
      const form = new URLSearchParams(body);
      if (headers["content-type"] !== "application/x-www-form-urlencoded" || "authorization" in headers || "x-access-token" in headers)
        return false;
      if (refresh !== undefined) return form.get("grant_type") === "refresh_token" && form.get("refresh_token") === refresh;
      return form.get("grant_type") === "client_credentials" && form.get("client_id") === "retinue" && form.get("client_secret") === KEY;
    },
  );
  expect(refused).toEqual([]);
  expect(trades.filter((path) => path === "/oauth/token")).toHaveLength(1);
  expect(trades.length).toBeGreaterThan(5);
  expect(reads).toBeGreaterThan(50);
  expect(leaked).toBe(0);
});

test("a key is traded in a header of its own, where the network has no refresh", async () => {
  const { trades, refused, reads, leaked } = await reading(
    {
      auth: { header: "x-access-token", prefix: "", exchange: true, trade: { header: "x-api-key", prefix: "Key " } },
      operations: { "auth.token": { path: "/oauth/token" }, "auth.refresh": { unsupported: true } },
    },
    ({ headers }) => headers["x-api-key"] === `Key ${KEY}` && headers["x-access-token"] === undefined,
  );
  expect(refused).toEqual([]);
  expect(new Set(trades)).toEqual(new Set(["/oauth/token"]));
  expect(trades.length).toBeGreaterThan(5);
  expect(reads).toBeGreaterThan(50);
  expect(leaked).toBe(0);
});
