/** Shows the tools of MCP servers that are new or changed, and accepts them as they are now. */
import { acceptedFile, readAccepted, writeAccepted } from "../config/accepted-tools.ts";
import type { Config } from "../config/config.ts";
import { environmentSecrets, toolSecrets } from "../config/key-sources.ts";
import type { Roster } from "../config/roster.ts";
import { createLogger } from "../core/log.ts";
import { Scrubber } from "../core/scrubber.ts";
import { MINUTE } from "../core/units.ts";
import type { ToolFound } from "../mcp/tool-servers.ts";
import { lazyTools } from "../runtime/lazy-tools.ts";
import type { Context } from "./command.ts";
import { shownPath } from "./output.ts";
import { logSink } from "./progress.ts";
import { say } from "./text.ts";

/** Time for all servers together. */
const LIMIT_MS = MINUTE;

/**
 * The person who runs the command has the list before their eyes: what is written is what was shown. Tools that no definition names any more
 * are forgotten. Throws what the servers' connection throws, and then accepts nothing.
 */
export async function acceptTools(
  { out, clock, cwd }: Pick<Context, "out" | "clock" | "cwd">,
  config: Config,
  roster: Roster,
): Promise<void> {
  const names = [...new Set(roster.definitions.flatMap(({ specialist: { tools } }) => tools))].toSorted();
  const found = await findAll(names, { out, clock, cwd }, config);
  const before = readAccepted(cwd);
  const news = found.filter(({ name, fingerprint }) => before.get(name) !== fingerprint);
  for (const { name, description, inputSchema } of news) {
    out.line(say`${out.paint.bold(name)} ${before.has(name) ? "changed" : "is new"}; its server says:`);
    out.quote(description);
    out.quote(JSON.stringify(inputSchema));
  }
  const after = new Map(found.map(({ name, fingerprint }) => [name, fingerprint]));
  const isSame = news.length === 0 && after.size === before.size;
  if (!isSame) writeAccepted(cwd, after);
  const file = shownPath(acceptedFile(cwd), cwd);
  out.line(
    isSame
      ? `All ${found.length} tools are as accepted in ${file}`
      : `Accepted ${found.length} tools in ${file}; remove a tool from \`tools\` to refuse it`,
  );
  out.line();
}

async function findAll(
  names: readonly string[],
  { out, clock }: Pick<Context, "out" | "clock" | "cwd">,
  config: Config,
): Promise<readonly ToolFound[]> {
  if (names.length === 0) return [];
  const scrubber = new Scrubber();
  for (const secret of [...environmentSecrets(config.environment), ...toolSecrets(config.environment, config.mcp)]) scrubber.add(secret);
  const log = createLogger({ level: config.logLevel, now: () => clock.now(), scrubber, sink: logSink(out) });
  const servers = lazyTools({ config, clock, log });
  const over = new AbortController();
  const limit = clock.after(LIMIT_MS, () => over.abort());
  try {
    return await servers.findTools(names, over.signal);
  } finally {
    limit.cancel();
    await servers.close();
  }
}
