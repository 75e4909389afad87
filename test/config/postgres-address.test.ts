/** The address of a PostgreSQL store: every part is checked, and no error repeats a password, also of an address that is torn by it. */
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { parsePostgresAddress, placeOf } from "../../src/config/postgres-address.ts";
import { isRetinueError } from "../../src/core/errors.ts";

const parse = (address: string) => parsePostgresAddress(address, "/project");

test("an address has its parts, and defaults for port and schema", () => {
  const address = parse("postgres://me:p%2Fss%40word@localhost/agents");
  expect(address).toMatchObject({ host: "localhost", port: 5432, database: "agents", user: "me", schema: "retinue", tls: undefined });
  expect(address.password?.reveal()).toBe("p/ss@word");
  expect(parse("postgresql://me@[::1]:6000/a?schema=other")).toMatchObject({
    host: "::1",
    port: 6000,
    schema: "other",
    password: undefined,
  });
});

test("a server elsewhere is known by its certificate", () => {
  expect(parse("postgres://me:x@db.example.com/a?sslmode=verify-full").tls).toEqual({ rootCertificates: undefined });
  expect(parse("postgres://me:x@db.example.com/a?sslmode=verify-full&sslrootcert=ca.pem").tls).toEqual({
    rootCertificates: "/project/ca.pem",
  });
});

test.each(["", "?sslmode=disable", "?sslmode=prefer", "?sslmode=require", "?sslmode=verify-ca"])(
  "a server elsewhere with %j is refused",
  (parameters) => {
    for (const host of ["db.example.com", "10.0.0.7", "[fd00::1]"])
      expect(() => parse(`postgres://me:hunter22222@${host}/a${parameters}`)).toThrow(
        expect.objectContaining({ code: "store_tls_missing", details: expect.objectContaining({ expected: "sslmode=verify-full" }) }),
      );
  },
);

test("a Unix socket is its folder, and needs no TLS", () => {
  const address = parse("postgres://me@%2Fvar%2Frun%2Fpostgresql:5433/a");
  expect(address).toMatchObject({ host: "/var/run/postgresql", port: 5433, tls: undefined });
});

const UNUSABLE: readonly (readonly [address: string, message: string])[] = [
  ["postgres://me:hunter22222@localhost", "names no database"],
  ["postgres://localhost/a", "names no user"],
  ["postgres:///a", "names no server"],
  ["postgres:a", "names no server"],
  ["postgres://me:hunter22222@one,two/a", "names no server"],
  ["postgres://me:hunter22222@localhost:99999/a", "cannot be read"],
  ["postgres://me:hunter22222@localhost:0/a", "cannot be read"],
  ["postgres://me:12/hunter22222@localhost/a", "cannot be read"],
  ["postgres://me:12#hunter22222@localhost/a", "cannot be read"],
  ["postgres://me:12?hunter22222@localhost/a", "names no database"],
  ["postgres://me:hunter22222%zz@localhost/a", "cannot be read"],
  ["postgres://me:hunter22222@localhost/a?schema=pg_mine", "unusable schema"],
  ["postgres://me:hunter22222@localhost/a?schema=Mine", "unusable schema"],
  ['postgres://me:hunter22222@localhost/a?schema=a"b', "unusable schema"],
  ["postgres://me:hunter22222@localhost/a?schma=b", 'unknown parameter "schma"'],
  ["postgres://me:hunter22222@localhost/a?schema=b&schema=c", "a parameter twice"],
  ["postgres://me:hunter22222@localhost/a?sslmode=require", "unusable sslmode"],
  ["postgres://me:hunter22222@localhost/a?session_timeout=1", "unusable session_timeout"],
  ["postgres://me:hunter22222@localhost/a?session_timeout=301", "unusable session_timeout"],
  ["postgres://me:hunter22222@localhost/a?session_timeout=2s", "unusable session_timeout"],
  ["postgres://me:hunter22222@localhost/a?session_timeout=2.5", "unusable session_timeout"],
  ["postgres://me:hunter22222@localhost/a?sslrootcert=x", "sslrootcert without"],
];

test.each(UNUSABLE)("%s is refused: %s", (address, message) => {
  let thrown: unknown;
  try {
    parse(address);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ code: "store_invalid", message: expect.stringContaining(message) });
  expect(isRetinueError(thrown) && inspect(thrown.details) + thrown.message).not.toContain("hunter");
});

test("messages name the place without its password", () => {
  expect(placeOf(parse("postgres://me:hunter22222@localhost/agents"))).toBe("localhost:5432/agents");
  expect(placeOf(parse("postgres://me:hunter22222@[::1]:1/agents"))).toBe("[::1]:1/agents");
  expect(inspect(parse("postgres://me:hunter22222@localhost/a"), { depth: 9 })).not.toContain("hunter");
});
