import { userInfo } from "node:os";
import { expect, test } from "vitest";
import { shellUser } from "../../src/cli/shell-user.ts";

test("an order carries the name of the shell's user, or of the one before sudo; a variable anyone sets does not count", () => {
  expect(shellUser({ USER: "mallory" })).toEqual({ who: userInfo().username, from: "command" });
  expect(shellUser({ SUDO_USER: "mina" })).toEqual({ who: "mina", from: "command" });
});
