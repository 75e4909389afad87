/** The token of the MCP server over HTTP: from the settings, or made once and kept in a file for its owner alone. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf, Misconfigured } from "../core/errors.ts";
import type { Random } from "../core/random.ts";
import { Secret } from "../core/secret.ts";

const OWNER_ONLY = 0o600;
const LENGTH = 40;
const TOKEN = /^\S{20,512}$/;

/** Reads the token, or makes it. Throws `Misconfigured` (`mcp_token_unusable`). */
export function tokenIn(file: string, random: Random): Secret {
  try {
    if (!existsSync(file)) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `${random.word(LENGTH)}\n`, { mode: OWNER_ONLY, flag: "wx" });
    }
    chmodSync(file, OWNER_ONLY);
    const token = readFileSync(file, "utf8").trim();
    if (TOKEN.test(token)) return new Secret(token);
  } catch (error) {
    throw new Misconfigured("mcp_token_unusable", `the file of the MCP server's token cannot be used: ${messageOf(error)}`, {
      file,
      cause: error,
    });
  }
  throw new Misconfigured("mcp_token_unusable", "the file holds no token", {
    file,
    expected: "20 to 512 characters without spaces",
    hint: "remove the file to have a new one, or set RETINUE_MCP_TOKEN",
  });
}
