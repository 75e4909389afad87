/** Keys by reference: found, read again, checked, and never shown. */
import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openEnvironment } from "../../src/config/environment.ts";
import { checkKeys, keyReference, keyVariable, keyVariablesNow, type KeyPlace } from "../../src/config/key-sources.ts";
import { project } from "../harness/project.ts";

const KEY_A = "sk-agent-abcd-efgh-ijkl";
const KEY_B = "sk_live_0123456789abcdef";

test.each([
  ["scout", "RETINUE_KEY_SCOUT"],
  ["data-worker.2", "RETINUE_KEY_DATA_WORKER_2"],
])("the key of %s is in %s", (handle, variable) => expect(keyVariable(handle)).toBe(variable));

describe("a key is read anew each time", () => {
  test("from .env", () => {
    const { root, write } = project({ ".env": `RETINUE_KEY_SCOUT=${KEY_A}` });
    const reference = keyReference({ handle: "scout" }, openEnvironment({ cwd: root, variables: {} }), root);
    expect(reference.read()).toBe(KEY_A);
    expect(reference.source).toBe("RETINUE_KEY_SCOUT (.env)");
    write(".env", `RETINUE_KEY_SCOUT="${KEY_B}" # new`);
    expect(reference.read()).toBe(KEY_B);
    rmSync(join(root, ".env"));
    expect(reference.read()).toBeUndefined();
  });

  test("but once for lookups of many, with the same results", () => {
    const { root, write } = project({
      ".env": `RETINUE_KEY_SCOUT=" ${KEY_A} "\nRETINUE_KEY_QUILL=\nRETINUE_KEY_HAND_FILE=key.txt`,
      "key.txt": KEY_B,
    });
    const environment = openEnvironment({ cwd: root, variables: { RETINUE_KEY_CLERK: KEY_A } });
    const now = keyVariablesNow(environment);
    const read = (handle: string) => [environment, now].map((from) => keyReference({ handle }, from, root).read());
    expect(["scout", "quill", "hand", "clerk"].map(read)).toEqual([KEY_A, undefined, KEY_B, KEY_A].map((key) => [key, key]));
    write(".env", "");
    expect(read("scout")).toEqual([undefined, KEY_A]);
  });

  test("which the check of many uses", () => {
    const { root } = project({ ".env": `RETINUE_KEY_SCOUT=${KEY_A}\nRETINUE_KEY_QUILL=${KEY_A}`, "key.txt": KEY_A });
    const environment = openEnvironment({ cwd: root, variables: { RETINUE_KEY_HAND_FILE: "key.txt" } });
    let reads = 0;
    const counting = { ...environment, get: (name: string) => (reads++, environment.get(name)) };
    const places = ["scout", "quill", "hand"].map((handle) => ({ handle }));
    const problems = checkKeys(places, { set: "a", ownProfile: false, environment: counting, cwd: root });
    expect([problems.filter(({ code }) => code !== "key_file_open"), reads]).toEqual([[], 0]);
  });

  test("from the file a variable names, and from the file of the settings, which wins", () => {
    const { root, write } = project({ "key.txt": `${KEY_A}\n`, "own.txt": KEY_B });
    const environment = openEnvironment({ cwd: root, variables: { RETINUE_KEY_SCOUT_FILE: "key.txt" } });
    const reference = keyReference({ handle: "scout" }, environment, root);
    expect([reference.read(), reference.source]).toEqual([KEY_A, "the file key.txt"]);
    write("key.txt", KEY_B);
    expect(reference.read()).toBe(KEY_B);
    expect(keyReference({ handle: "scout", keyFile: "own.txt" }, environment, root).source).toBe("the file own.txt");
  });

  test("from the file of an issued key, if nothing else is stated", () => {
    const { root, write } = project({ ".retinue/keys/scout": `${KEY_B}\n` });
    const read = (variables: { readonly [name: string]: string }) =>
      keyReference({ handle: "scout" }, openEnvironment({ cwd: root, variables }), root).read();
    write("key.txt", "another-key");
    expect([read({}), read({ RETINUE_KEY_SCOUT_FILE: "key.txt" }), read({ RETINUE_KEY_SCOUT: KEY_A })]).toEqual([
      KEY_B,
      "another-key",
      KEY_A,
    ]);
  });

  test("from the environment of the process, which wins over .env", () => {
    const { root } = project({ ".env": `RETINUE_KEY_SCOUT=${KEY_A}` });
    const environment = openEnvironment({ cwd: root, variables: { RETINUE_KEY_SCOUT: KEY_B } });
    const reference = keyReference({ handle: "scout" }, environment, root);
    expect([reference.read(), reference.source]).toEqual([KEY_B, "RETINUE_KEY_SCOUT"]);
  });
});

describe("mistakes in keys:", () => {
  const check = (
    places: readonly KeyPlace[],
    variables: { readonly [name: string]: string },
    options: { set?: "a" | "b"; ownProfile?: boolean; cwd?: string } = {},
  ) => {
    const { set = "b", ownProfile = false, cwd = "/nowhere" } = options;
    return checkKeys(places, { set, ownProfile, cwd, environment: openEnvironment({ cwd, variables }) });
  };

  test("a missing one says where it belongs", () => {
    expect(check([{ handle: "scout" }], {})).toMatchObject([
      { level: "error", code: "key_missing", expected: "a key in RETINUE_KEY_SCOUT" },
    ]);
  });

  test("a missing one names the variable of nobody that may have been meant", () => {
    const hint = (variables: { readonly [name: string]: string }): unknown =>
      check([{ handle: "greeter" }, { handle: "greeted" }], { RETINUE_KEY_GREETED: KEY_B, ...variables })[0]?.hint;
    expect(hint({ RETINUE_KEY_GREETR: KEY_B })).toBe("did you mean RETINUE_KEY_GREETER? RETINUE_KEY_GREETR is the key of no specialist");
    expect(hint({ RETINUE_KEY_GREETR_FILE: "key.txt" })).toContain("did you mean RETINUE_KEY_GREETER_FILE? RETINUE_KEY_GREETR_FILE is");
    expect(hint({})).toBe("set RETINUE_KEY_GREETER in the environment or in .env, or RETINUE_KEY_GREETER_FILE to a file that holds it");
  });

  test("one of the other set is refused on a published network, and only doubted on one's own", () => {
    const variables = { RETINUE_KEY_SCOUT: KEY_A };
    expect(check([{ handle: "scout" }], variables)).toMatchObject([{ level: "error", code: "key_of_other_set" }]);
    expect(check([{ handle: "scout" }], variables, { ownProfile: true })).toMatchObject([{ level: "warning" }]);
    expect(check([{ handle: "scout" }], variables, { set: "a" })).toEqual([]);
    expect(JSON.stringify(check([{ handle: "scout" }], variables))).not.toContain(KEY_A);
  });

  test("one that does not fit a header", () => {
    expect(check([{ handle: "scout" }], { RETINUE_KEY_SCOUT: "two words here" })).toMatchObject([{ code: "key_invalid" }]);
    expect(check([{ handle: "scout" }], { RETINUE_KEY_SCOUT: "short" })).toMatchObject([{ code: "key_invalid" }]);
  });

  test.skipIf(process.platform === "win32")("a file that others may read", () => {
    const { root, write } = project();
    const file = write("key.txt", KEY_B);
    chmodSync(file, 0o644);
    expect(check([{ handle: "scout", keyFile: file }], {}, { cwd: root })).toMatchObject([
      { level: "warning", code: "key_file_open", file },
    ]);
    chmodSync(file, 0o600);
    expect(check([{ handle: "scout", keyFile: file }], {}, { cwd: root })).toEqual([]);
  });
});
