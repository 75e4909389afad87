/** `retinue network`: runs the local network alone, to develop without a real one. */
import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { loadDefinitions } from "../../config/definitions.ts";
import { throwMistakes } from "../../config/problem.ts";
import { openApiDocument } from "../../contract/openapi/openapi.ts";
import { SETS, type EndpointSet } from "../../contract/operations.ts";
import { Misconfigured } from "../../core/errors.ts";
import { choiceOption, durationOption, flagOption, textOption, wholeOption } from "../args.ts";
import { EXIT, OPTIONS, type Command, type Context } from "../command.ts";
import type { Resident } from "../key-file.ts";
import { DEFAULT_DATA, DEFAULT_SEED, openLocalNetwork } from "../open-local-network.ts";
import { openStage } from "../session.ts";

const MAX_PORT = 65_535;
/** The first account if there is no definition yet. */
const FIRST: Resident = { handle: "scout", tier: "pro" };

export const command: Command = {
  name: "network",
  describe: "Runs a local network with residents, real limits and a Guardian's page, to develop against.",
  options: [
    { flags: "--port <number>", describe: "its port (default: any free one)" },
    { flags: "--set <a|b>", describe: "a single endpoint set (default: both, at /a and /b)" },
    { flags: "--data <file>", describe: `its data file, kept over restarts (default: ${DEFAULT_DATA})` },
    { flags: "--seed <text>", describe: `seed of the residents' actions (default: ${DEFAULT_SEED})` },
    {
      flags: "--agents <dir>",
      describe: "the specialists that get accounts and keys (default: the definitions in ./agents, else one called scout)",
    },
    OPTIONS.for,
    OPTIONS.logLevel,
    { flags: "--openapi", describe: "print the OpenAPI document of the set (or of both) and end" },
  ],
  examples: ["retinue network --port 8080 --set b", "retinue network --openapi --set a > set-a.json"],
  async run(context) {
    const { out, options, clock, cwd, version, command: name } = context;
    const set = choiceOption(options, "set", SETS);
    if (flagOption(options, "openapi")) return printOpenApi(context, set);
    const forMs = durationOption(options, "for");
    const port = wholeOption(options, "port", { min: 0, max: MAX_PORT });
    const seed = textOption(options, "seed") ?? DEFAULT_SEED;
    const data = textOption(options, "data") ?? DEFAULT_DATA;
    const cast = await castOf(context);
    const stage = openStage(context, forMs);
    try {
      const world = await openLocalNetwork({
        clock,
        seed,
        data: isAbsolute(data) ? data : join(cwd, data),
        port,
        set,
        cast,
        log: stage.log,
      });
      try {
        world.network.start();
        const { baseUrls, guardian } = world.listening;
        const handles = cast.map(({ handle }) => handle);
        out.progress(
          {
            type: "started",
            at: clock.now(),
            baseUrls,
            guardian: guardian.url,
            keyFile: world.keyFile,
            handles,
          },
          [
            ...SETS.flatMap((one) => (baseUrls[one] === undefined ? [] : [`Set ${one.toUpperCase()}  ${baseUrls[one]}`])),
            `Keys   ${world.keyFile} (${handles.join(", ")}; with the address and the set: copy it to .env)`,
            `Page   ${guardian.url} (My Agents; log in with the token ${guardian.token})`,
          ],
        );
        await stage.lifetime.over;
        const { jobs, network } = world.network.summary();
        out.result({ version, command: name, ok: true, baseUrls, jobs, network });
        return EXIT.done;
      } finally {
        await world.close();
      }
    } finally {
      stage.close();
    }
  },
};

function printOpenApi({ out }: Context, set: EndpointSet | undefined): typeof EXIT.done {
  const document = set === undefined ? { a: openApiDocument("a"), b: openApiDocument("b") } : openApiDocument(set);
  if (out.json) out.result(document);
  else out.value(document);
  return EXIT.done;
}

async function castOf({ options, cwd }: Context): Promise<readonly Resident[]> {
  const given = textOption(options, "agents");
  const folder = given === undefined ? join(cwd, "agents") : isAbsolute(given) ? given : join(cwd, given);
  if (given === undefined && !existsSync(folder)) return [FIRST];
  const { definitions, problems } = await loadDefinitions(folder);
  throwMistakes(problems);
  if (definitions.length === 0 && given !== undefined)
    throw new Misconfigured("agents_empty", "there is no specialist in this folder", {
      file: folder,
      hint: "name another folder with --agents",
    });
  return definitions.length === 0 ? [FIRST] : definitions.map(({ specialist }) => specialist);
}
