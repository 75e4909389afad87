/** Sessions of pages: signed, without a table, and over with the token. */
import { expect, test } from "vitest";
import { cookieHeader, cookieIn, issueSession, readSession, SESSION_MS, type SessionHolder } from "../../src/core/page-session.ts";
import { Secret } from "../../src/core/secret.ts";

const HOLDER: SessionHolder = { who: "anna", token: new Secret("a-token") };
const of = (holder: SessionHolder) => (who: string) => (who === holder.who ? holder : undefined);

test("a session is of whoever showed the token, and each has a mark of its own for orders", () => {
  const session = readSession(issueSession(HOLDER, 5).value, of(HOLDER), 5);
  expect(session?.who).toBe("anna");
  expect(readSession(issueSession(HOLDER, 5).value, of(HOLDER), 5)?.csrf).not.toBe(session?.csrf);
});

test("a session ends with its token, with its person, and after its time", () => {
  const { value } = issueSession(HOLDER, 5);
  expect(readSession(value, of({ ...HOLDER, token: new Secret("another") }), 5)).toBeUndefined();
  expect(readSession(value, () => undefined, 5)).toBeUndefined();
  expect(readSession(value, of(HOLDER), 5 + SESSION_MS)).toBeDefined();
  expect(readSession(value, of(HOLDER), 6 + SESSION_MS)).toBeUndefined();
});

test("a changed, cut or made-up value is no session", () => {
  const { value } = issueSession(HOLDER, 5);
  const [body = "", signature = ""] = value.split(".");
  const forged = Buffer.from(JSON.stringify(["anna", 9e15, "x"])).toString("base64url");
  const values = [
    undefined,
    "",
    ".",
    body,
    `${body}.`,
    `${forged}.${signature}`,
    `${body}.${signature}x`,
    "x".repeat(5_000),
    "e30.x",
    "WzFd.x",
  ];
  expect(values.map((one) => readSession(one, of(HOLDER), 5))).toEqual(values.map(() => undefined));
});

test("a cookie is found among others, and is read by no script and sent from no other site", () => {
  expect([cookieIn("a=1; page=x.y; b=2", "page"), cookieIn("otherpage=1", "page"), cookieIn(undefined, "page")]).toEqual([
    "x.y",
    undefined,
    undefined,
  ]);
  const cookie = { name: "page", value: "x", path: "/", secure: true };
  expect(cookieHeader(cookie)).toBe("page=x; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000; Secure");
  expect(cookieHeader({ ...cookie, value: "", secure: false })).toBe("page=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
});
