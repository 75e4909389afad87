/** `retinue check`: lists every mistake in settings, profile, store, definitions and keys, without a call to the network. */
import { readConfig, type Config } from "../../config/config.ts";
import { declaredSecrets, environmentSecrets } from "../../config/key-sources.ts";
import { modelSecrets } from "../../config/model-settings.ts";
import { placeOf } from "../../config/postgres-address.ts";
import { isMistake, problemOf, warning, withoutSecrets, type Problem } from "../../config/problem.ts";
import { readProfile } from "../../config/profile-file.ts";
import { checkRosterKeys, type Roster } from "../../config/roster.ts";
import { storeSecrets } from "../../config/store-address.ts";
import { shippedProfile, type Profile } from "../../contract/profile/profile.ts";
import { defined } from "../../core/defined.ts";
import { Retryable, type Misconfigured } from "../../core/errors.ts";
import { Scrubber } from "../../core/scrubber.ts";
import type { Secret } from "../../core/secret.ts";
import { asConfigured, readRoster, requireBaseUrl } from "../../runtime/launch.ts";
import { otherNetwork } from "../../store/bind-network.ts";
import { leftBehind } from "../../store/left-behind.ts";
import { networkOf } from "../../store/sqlite/upkeep.ts";
import { deliveryRoute, receiverMistakes } from "../../webhooks/receiver-settings.ts";
import { acceptTools } from "../accept-tools.ts";
import { flagOption } from "../args.ts";
import { EXIT, PROJECT_OPTIONS, type Command } from "../command.ts";
import { problemJson } from "../output.ts";

export const command: Command = {
  name: "check",
  describe:
    "Checks settings, profile, store, definitions and keys for mistakes. Without --accept it calls nothing but the server of the store, and writes nothing.",
  options: [
    ...PROJECT_OPTIONS,
    {
      flags: "--no-keys",
      describe: "check definitions and settings alone, without keys, the network's address and the server of the store",
    },
    { flags: "--strict", describe: "treat warnings as mistakes" },
    { flags: "--accept", describe: "ask the MCP servers for their tools, show those that are new or changed, and accept them" },
  ],
  examples: ["retinue check", "retinue check --agents ./agents --set a --json"],
  async run({ clock, flags, env, cwd, out, command: name, version, options }) {
    const { config, problems: settings } = await readConfig({ flags, env, cwd });
    const { profile, problems: ofProfile } = await readProfile(config.network.profile);
    const speaks = profile ?? shippedProfile(config.network.set);
    const before = await readRoster(config, speaks, clock);
    const accepts = flagOption(options, "accept");
    if (accepts) await acceptTools({ out, clock, cwd }, config, before);
    const roster = accepts ? await readRoster(config, speaks, clock) : before;
    const found: Problem[] = [...settings, ...ofProfile, ...roster.problems];
    found.push(...problemsOfSettings(speaks, config));
    const { store, problems: ofStore } = await examineStore(config, options["keys"] !== false);
    found.push(...ofStore);
    found.push(...problemsOfReceiver(config, speaks, roster, settings).filter(({ code }) => options["keys"] !== false || code !== SECRET));
    found.push(...problemsOfSet(speaks, config));
    if (options["keys"] !== false) found.push(...problemsOfAddress(config, settings), ...checkRosterKeys(roster, config));
    const problems = withoutSecrets(found, secretsOf(config, roster));
    const webhooks = routeOfDeliveries(config);
    const failed = problems.some((problem) => isMistake(problem) || flagOption(options, "strict"));
    const mistakes = problems.filter(isMistake);
    out.problems([...problems.filter((problem) => !isMistake(problem)), ...mistakes]);

    const specialists = roster.definitions.map(({ file, specialist }) => ({
      handle: specialist.handle,
      tier: specialist.tier,
      file,
      may: specialist.may,
      models: [...new Set(specialist.models.map(({ model }) => model))],
    }));
    if (!failed) {
      out.table(specialists, [
        { title: "specialist", value: (row) => row.handle },
        { title: "tier", value: (row) => row.tier },
        { title: "may", value: (row) => row.may.join(" ") || "reads only" },
        ...(specialists.some(({ models }) => models.length > 0)
          ? [{ title: "model", value: (row: Shown) => row.models.join(" ") || "-" }]
          : []),
      ]);
      out.line();
      if (webhooks !== undefined) out.line(`Webhooks: ${webhooks}`);
      if (store?.isNew === true) out.line(`Store: ${store.at}, a new one: nothing is known of what was done before`);
      const warnings = problems.length === 0 ? "" : `, ${counted(problems.length, "warning")}`;
      out.line(out.paint.green(`${counted(specialists.length, "specialist")}, no mistakes${warnings}`));
    } else {
      out.line();
      out.line(`${counted(mistakes.length, "mistake")} and ${counted(problems.length - mistakes.length, "warning")}`);
    }
    const shown = problems.map((problem) => problemJson(problem, cwd));
    const first = mistakes[0] ?? (failed ? problems[0] : undefined);
    out.result({
      version,
      command: name,
      ok: !failed,
      ...(first === undefined ? {} : { error: problemJson(first, cwd) }),
      problems: shown,
      specialists: specialists.map(({ handle, tier, models }) => ({
        handle,
        set: roster.set,
        tier,
        ...(models.length === 0 ? {} : { models }),
      })),
      ...defined({ webhooks, store }),
    });
    return failed ? EXIT.misused : EXIT.done;
  },
};

interface Shown {
  readonly models: readonly string[];
}

/** The route of deliveries: the public address and the receiver's own; undefined without a receiver. */
function routeOfDeliveries({ receiver: { port, host, url }, environment }: Config): string | undefined {
  if (port === undefined) return undefined;
  const listensAt = port === 0 ? `a free port of ${host}` : `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const scrubber = new Scrubber();
  for (const secret of environmentSecrets(environment)) scrubber.add(secret);
  return scrubber.clean(deliveryRoute(url, listensAt));
}

function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? "" : "s"}`;
}

const SECRET = "webhook_secret_missing";

/** Reports the reasons for which the receiver would not start, beside those that its settings alone show. */
function problemsOfReceiver({ receiver }: Config, profile: Profile, { definitions }: Roster, settings: readonly Problem[]): Problem[] {
  if (receiver.port === undefined) return [];
  const known = new Set(settings.map(({ code }) => code));
  const handles = definitions.map(({ specialist }) => specialist.handle);
  const url = known.has("webhook_url_invalid") ? undefined : receiver.url;
  const refusals = receiverMistakes({ ...receiver, url }, profile, handles);
  return refusals.filter(({ code }) => !known.has(code)).map((refusal) => problemOf(refusal));
}

/** Reports a missing address, without which nothing can run. */
function problemsOfAddress(config: Config, settings: readonly Problem[]): Problem[] {
  if (settings.some(({ code }) => code === "base_url_invalid")) return [];
  try {
    requireBaseUrl(config);
    return [];
  } catch (error) {
    return [problemOf(error, config.file === undefined ? {} : { file: config.file })];
  }
}

function secretsOf(config: Config, roster: Roster): readonly Secret[] {
  const specialists = [...roster.definitions, ...roster.drafts].map(({ specialist }) => specialist);
  const { environment } = config;
  return [
    ...environmentSecrets(environment),
    ...storeSecrets(config.store),
    ...modelSecrets(config),
    ...declaredSecrets(environment, specialists),
  ];
}

interface StoreExamined {
  readonly problems: readonly Problem[];
  /** A server that was asked, with its database. */
  readonly store?: { readonly at: string; readonly isNew: boolean };
}

/** Checks that the store does not belong to another network, and that no history is left behind. */
async function examineStore(
  { cwd, network: { baseUrl: network, allowMoved }, store }: Config,
  asksServer: boolean,
): Promise<StoreExamined> {
  const known = (refusal: Misconfigured | undefined): Problem[] => (refusal === undefined ? [] : [problemOf(refusal)]);
  if (store.kind === "sqlite")
    return { problems: network === undefined ? [] : known(otherNetwork(networkOf(store.path), { store, network, allowMoved })) };
  try {
    const { loadDriver } = await import("../../store/postgres/open-connection.ts"); // nobody else pays for it
    await loadDriver();
    if (!asksServer || network === undefined) return { problems: [] };
    const { lookAtServer } = await import("../../store/postgres/server-use.ts");
    const before = await lookAtServer(store);
    const refusals = [
      otherNetwork(before.network, { store, network, allowMoved }),
      before.isUnused ? leftBehind({ store, network, allowMoved, cwd }) : undefined,
    ];
    return { problems: refusals.flatMap(known), store: { at: placeOf(store), isNew: before.isUnused } };
  } catch (error) {
    const problem = problemOf(error);
    // A server that does not answer here and now may do so where the specialists run.
    return { problems: [error instanceof Retryable ? { ...problem, level: "warning" } : problem] };
  }
}

/** Warns of settings that state another set than the profile: it decides. */
function problemsOfSet({ set }: Profile, { network }: Config): Problem[] {
  if (!network.setStated || set === network.set) return [];
  const message = `the profile builds on Set ${set.toUpperCase()}, the settings say Set ${network.set.toUpperCase()}`;
  return [warning("profile_of_other_set", message, { hint: `set it to ${set}, or remove it: the profile states the set` })];
}

/** Checks that the settings use only parts of a network that its profile has. Unknown prices are among the roster's problems. */
function problemsOfSettings(profile: Profile, config: Config): Problem[] {
  const prices = Object.fromEntries(Object.entries(config.prices).filter(([name]) => profile.operations.has(name)));
  try {
    asConfigured(profile, { ...config, prices });
    return [];
  } catch (error) {
    return [problemOf(error, config.file === undefined ? {} : { file: config.file })];
  }
}
