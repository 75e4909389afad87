/** The console's settings: loopback by default, and nothing that would expose it. */
import { expect, test } from "vitest";
import { passingConsole, readConsole, type ConsoleSources } from "../../src/config/console-settings.ts";
import { Secret } from "../../src/core/secret.ts";

const read = (values: ConsoleSources["values"], secrets: { readonly [name: string]: string } = {}) =>
  readConsole({
    values,
    port: 8_070,
    file: undefined,
    cwd: "/home",
    readSecret: (name) => (secrets[name] === undefined ? undefined : new Secret(secrets[name])),
  });
const codes = (values: ConsoleSources["values"], secrets?: { readonly [name: string]: string }) =>
  read(values, secrets).problems.map(({ code, level }) => `${level} ${code}`);

test("without settings it is for this machine, and for whoever holds the Guardian's token", () => {
  const { settings, problems } = read(undefined, { RETINUE_CONSOLE_TOKEN: "t" });
  expect(problems).toEqual([]);
  expect(settings).toMatchObject({
    port: 8_070,
    host: "127.0.0.1",
    url: undefined,
    tls: undefined,
    people: [{ who: "guardian", role: "act" }],
  });
  expect(settings.people[0]?.readToken()?.reveal()).toBe("t");
});

test.each([
  ["0.0.0.0", {}, ["error console_exposed"]],
  ["10.1.2.3", { url: "http://console.example.com" }, ["error console_exposed"]],
  ["0.0.0.0", { url: "https://console.example.com" }, []],
  ["0.0.0.0", { tls: { cert: "c.pem", key: "k.pem" } }, []],
  ["127.0.0.2", {}, []],
  ["::1", {}, []],
  ["localhost", { url: "console.example.com" }, ["error console_url_invalid"]],
])("host %s with %j: %j", (host, rest, expected) => expect(codes({ host, ...rest })).toEqual(expected));

test("files are found from the folder of the project", () => {
  expect(read({ tls: { cert: "c.pem", key: "/etc/k.pem" } }).settings.tls).toEqual({ cert: "/home/c.pem", key: "/etc/k.pem" });
});

test("each person has a token of their own", () => {
  const people = { anna: { role: "act", token: "A" }, vera: { role: "view", token: "B" } } as const;
  expect(codes({ people }, { A: "one", B: "two" })).toEqual([]);
  expect(codes({ people }, { A: "one" })).toEqual(["warning console_token_missing"]);
  expect(codes({ people }, { A: "one", B: "one" })).toEqual(["error console_token_shared"]);
  expect(codes({ people }, { A: "one", B: "two", RETINUE_CONSOLE_TOKEN: "two" })).toEqual(["error console_token_shared"]);
  expect(read({ people }).settings.people.map(({ who, role }) => `${who} ${role}`)).toEqual(["guardian act", "anna act", "vera view"]);
});

test("a passing console is for this machine, on any free port, and says its own token", () => {
  const { people, ...settings } = passingConsole(new Secret("for-a-while"));
  expect(settings).toEqual({ port: 0, host: "127.0.0.1", url: undefined, tls: undefined, login: "the token for-a-while" });
  expect(people.map(({ who, role, readToken }) => [who, role, readToken()?.reveal()])).toEqual([["guardian", "act", "for-a-while"]]);
});
