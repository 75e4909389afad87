/** `retinue check`: lists every mistake in settings, profile, definitions and keys, without a call to the network. */
import { readConfig, type Config } from "../../config/config.ts";
import { declaredSecrets, environmentSecrets } from "../../config/key-sources.ts";
import { isMistake, problemOf, warning, withoutSecrets, type Problem } from "../../config/problem.ts";
import { readProfile } from "../../config/profile-file.ts";
import { checkRosterKeys, type Roster } from "../../config/roster.ts";
import { shippedProfile, type Profile } from "../../contract/profile/profile.ts";
import type { Secret } from "../../core/secret.ts";
import { asConfigured, readRoster } from "../../runtime/launch.ts";
import { otherNetwork } from "../../store/bind-network.ts";
import { networkOf } from "../../store/sqlite/upkeep.ts";
import { flagOption } from "../args.ts";
import { EXIT, OPTIONS, type Command } from "../command.ts";
import { problemJson } from "../output.ts";

export const command: Command = {
  name: "check",
  describe: "Checks settings, profile, definitions and keys for mistakes. It calls nothing and writes nothing.",
  options: [
    OPTIONS.config,
    OPTIONS.agents,
    OPTIONS.baseUrl,
    OPTIONS.set,
    OPTIONS.profile,
    OPTIONS.store,
    { flags: "--no-keys", describe: "skip the keys" },
    { flags: "--strict", describe: "treat warnings as mistakes" },
  ],
  examples: ["retinue check", "retinue check --agents ./agents --set a --json"],
  async run({ clock, flags, env, cwd, out, command: name, version, options }) {
    const { config, problems: settings } = await readConfig({ flags, env, cwd });
    const { profile, problems: ofProfile } = await readProfile(config.network.profile);
    const speaks = profile ?? shippedProfile(config.network.set);
    const roster = await readRoster(config, speaks, clock);
    const found: Problem[] = [...settings, ...ofProfile, ...roster.problems];
    found.push(...problemsOfSettings(speaks, config));
    found.push(...problemsOfStore(config));
    if (config.network.setStated && speaks.set !== config.network.set)
      found.push(
        warning(
          "profile_of_other_set",
          `the profile builds on Set ${speaks.set.toUpperCase()}, the settings say Set ${config.network.set.toUpperCase()}`,
          {
            hint: `set it to ${speaks.set}, or remove it: the profile states the set`,
          },
        ),
      );
    if (options["keys"] !== false) found.push(...checkRosterKeys(roster, config));
    const problems = withoutSecrets(found, secretsOf(config, roster));
    const failed = problems.some((problem) => isMistake(problem) || flagOption(options, "strict"));
    const mistakes = problems.filter(isMistake);
    out.problems([...problems.filter((problem) => !isMistake(problem)), ...mistakes]);

    const specialists = roster.definitions.map(({ file, specialist }) => ({
      handle: specialist.handle,
      tier: specialist.tier,
      file,
      may: specialist.may,
    }));
    if (!failed) {
      out.table(specialists, [
        { title: "specialist", value: (row) => row.handle },
        { title: "tier", value: (row) => row.tier },
        { title: "may", value: (row) => row.may.join(" ") || "reads only" },
      ]);
      out.line();
      out.line(out.paint.green(`${specialists.length} specialist${specialists.length === 1 ? "" : "s"}, no mistakes`));
    } else {
      out.line();
      out.line(`${mistakes.length} mistake${mistakes.length === 1 ? "" : "s"} and ${problems.length - mistakes.length} warnings`);
    }
    const shown = problems.map((problem) => problemJson(problem, cwd));
    const first = mistakes[0] ?? (failed ? problems[0] : undefined);
    out.result({
      version,
      command: name,
      ok: !failed,
      ...(first === undefined ? {} : { error: problemJson(first, cwd) }),
      problems: shown,
      specialists: specialists.map(({ handle, tier }) => ({ handle, set: roster.set, tier })),
    });
    return failed ? EXIT.misused : EXIT.done;
  },
};

function secretsOf({ environment }: Config, { definitions }: Roster): readonly Secret[] {
  return [
    ...environmentSecrets(environment),
    ...declaredSecrets(
      environment,
      definitions.map(({ specialist }) => specialist),
    ),
  ];
}

/** Checks that the store does not belong to another network. */
function problemsOfStore({ network: { baseUrl, allowMoved }, store: { path } }: Config): Problem[] {
  if (baseUrl === undefined) return [];
  const refusal = otherNetwork(networkOf(path), { path, network: baseUrl, allowMoved });
  return refusal === undefined ? [] : [problemOf(refusal, { file: path })];
}

/** Checks that the settings use only parts of a network that its profile has. */
function problemsOfSettings(profile: Profile, config: Config): Problem[] {
  try {
    asConfigured(profile, config);
    return [];
  } catch (error) {
    return [problemOf(error, config.file === undefined ? {} : { file: config.file })];
  }
}
