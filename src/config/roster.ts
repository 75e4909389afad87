/** The specialists to run: definitions with the Guardian's overrides, checked against their network. */
import { EVENT_KINDS } from "../contract/event-kinds.ts";
import { isOperationName, OPERATION_NAMES, OPERATIONS, type EndpointSet } from "../contract/operations.ts";
import type { Profile } from "../contract/profile/profile.ts";
import { tierLimits } from "../contract/tiers.ts";
import { defined } from "../core/defined.ts";
import type { SpendCaps } from "../specialist/definition.ts";
import { handlerOf } from "../specialist/handlers.ts";
import { withOverride, type Specialist } from "../specialist/specialist.ts";
import { readAccepted, type AcceptedTools } from "./accepted-tools.ts";
import type { Config } from "./config.ts";
import { givenDefinitions, loadDefinitions, type DefinitionLoader, type LoadedDefinition } from "./definitions.ts";
import { checkDeclared, checkKeys, declaredSecrets, environmentSecrets, keyVariable, type KeyPlace } from "./key-sources.ts";
import { checkModelKeys, checkModels, modelSecrets } from "./model-settings.ts";
import { isMistake, mistake, nearest, problemOf, warning, withoutSecrets, type Problem } from "./problem.ts";

export interface Roster {
  /** The endpoint set of their network. */
  readonly set: EndpointSet;
  readonly definitions: readonly LoadedDefinition[];
  /** Definitions of files with mistakes, without the mistaken parts: for further checks, never to run. */
  readonly drafts: readonly LoadedDefinition[];
  /** Every mistake and warning, of the files and of their fit to this network. */
  readonly problems: readonly Problem[];
}

export interface RosterOptions {
  readonly config: Config;
  readonly profile: Profile;
  /** Definitions given in code, in place of the folder. */
  readonly given?: readonly unknown[] | undefined;
  /** Default: loads all definitions afresh. */
  readonly loader?: DefinitionLoader | undefined;
  /** Throws `Misconfigured` on an unusable expression. */
  readonly checkCron: (expression: string, zone: string) => void;
  /** Mistakes in caps: contradictions, unknown currencies. */
  readonly checkCaps: (spend: SpendCaps) => readonly CapProblem[];
}

export interface CapProblem {
  /** For example `spend.perDay`. */
  readonly path: string;
  readonly message: string;
  readonly expected?: string;
}

/** Loads the definitions of a project, applies overrides, and checks all of it, except keys: see `checkRosterKeys`. */
export async function loadRoster({ config, profile, given, loader, checkCron, checkCaps }: RosterOptions): Promise<Roster> {
  const loaded = given === undefined ? await loadDefinitions(config.agents, undefined, loader) : givenDefinitions(given);
  const known = loaded.definitions.map(({ specialist }) => String(specialist.handle));
  const strangers = Object.keys(config.specialists).filter((handle) => !known.includes(handle));
  const enabled = (one: readonly LoadedDefinition[]): readonly LoadedDefinition[] =>
    one
      .filter(({ specialist }) => config.specialists[specialist.handle]?.enabled !== false)
      .map((one) => ({ ...one, specialist: withOverride(one.specialist, config.specialists[one.specialist.handle] ?? {}) }));
  const definitions = enabled(loaded.definitions);
  const drafts = enabled(loaded.drafts);
  const problems = [...loaded.problems];
  if (definitions.length === 0 && problems.length === 0)
    problems.push(warning("agents_empty", "there is no specialist", { file: config.agents, hint: "add a file such as agents/scout.ts" }));
  // A handle may be missing only because its file is broken, which is reported already.
  if (loaded.problems.length === 0) for (const handle of strangers) problems.push(strangerProblem(handle, known, config.file));
  const check = (definition: LoadedDefinition): Problem[] => [
    ...checkDefinition(definition, profile, config),
    ...definition.specialist.schedules.flatMap(({ name, cron, zone }) =>
      mistakesOf(() => cron !== undefined && checkCron(cron, zone ?? config.guardian.zone), definition.file, `schedules.${name}`),
    ),
  ];
  problems.push(...definitions.flatMap(check));
  // A warning may be owed to a part that was left out.
  problems.push(...drafts.flatMap(check).filter(isMistake));
  const written = [...definitions, ...drafts];
  problems.push(...sharedVariables(written));
  problems.push(...capProblems([...loaded.definitions, ...loaded.drafts], config, checkCaps));
  const { environment } = config;
  const declared = declaredSecrets(
    environment,
    written.map(({ specialist }) => specialist),
  );
  const all = withoutSecrets(
    [...problems, ...checkPrices(config, profile)],
    [...environmentSecrets(environment), ...modelSecrets(config), ...declared],
  );
  return { definitions, drafts, problems: all, set: profile.set };
}

/** Checks caps as written: an override may hide a cap of the definition. */
function capProblems(definitions: readonly LoadedDefinition[], config: Config, check: RosterOptions["checkCaps"]): Problem[] {
  const told = (spend: SpendCaps, file: string | undefined, part = ""): Problem[] =>
    check(spend).map(({ path, message, expected }) => mistake("spend_invalid", `${part}${path}: ${message}`, defined({ file, expected })));
  return [
    ...definitions.flatMap(({ file, specialist }) => told(specialist.spend, file)),
    ...told(config.guardian.spend, config.file, "guardian."),
    ...Object.entries(config.specialists).flatMap(([handle, { spend }]) => told(spend ?? {}, config.file, `specialists.${handle}.`)),
  ];
}

/** Finds handles that map to the same variable name, and would share keys. */
function sharedVariables(definitions: readonly LoadedDefinition[]): Problem[] {
  const owners = new Map<string, string>();
  return definitions.flatMap(({ file, specialist: { handle } }) => {
    const variable = keyVariable(handle);
    const other = owners.get(variable);
    owners.set(variable, other ?? handle);
    if (other === undefined) return [];
    return [
      mistake("key_variable_shared", `"${other}" and "${handle}" would both read their key from ${variable}`, {
        file,
        hint: "rename one of them, so that no key is used for the wrong specialist",
      }),
    ];
  });
}

function checkPrices({ prices, file }: Config, profile: Profile): Problem[] {
  const known = [...profile.operations.keys()];
  return Object.keys(prices)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const near = nearest(name, known);
      return mistake("operation_unknown", `prices: there is no operation "${name}"`, {
        ...defined({ file }),
        expected: "the name of an operation, such as posts.create",
        hint: near === undefined ? "remove it" : `did you mean "${near}"?`,
      });
    });
}

function strangerProblem(handle: string, known: readonly string[], file: string | undefined): Problem {
  const near = nearest(handle, known);
  return mistake("specialist_unknown", `specialists: there is no specialist "${handle}"`, {
    ...defined({ file }),
    expected: known.length === 0 ? "no overrides, as there are no definitions" : `one of ${known.join(", ")}`,
    hint: near === undefined ? "remove it, or add its definition" : `did you mean "${near}"?`,
  });
}

/** Lists the problems of a roster's keys and of the secrets that its definitions name. */
export function checkRosterKeys(roster: Roster, config: Config, { anyNetwork = false } = {}): readonly Problem[] {
  const written = [...roster.definitions, ...roster.drafts];
  const places = written.map(({ specialist: { handle } }): KeyPlace => {
    const keyFile = config.specialists[handle]?.keyFile;
    return defined({ handle, keyFile });
  });
  const { network, environment, cwd } = config;
  const declared = written.flatMap(({ specialist, file }) => checkDeclared(specialist, file, environment));
  const ownProfile = anyNetwork || !/^set-[ab]$/.test(network.profile);
  const ofModels = checkModelKeys(
    written.map(({ specialist }) => specialist),
    config,
  );
  return [...declared, ...ofModels, ...checkKeys(places, { set: roster.set, ownProfile, environment, cwd })];
}

/** Handlers that usually write, and the write without which they can only read. */
const USUAL_WRITES: readonly (readonly [keyof Specialist["on"], readonly string[]])[] = [
  ["reply.created", ["posts.reply", "posts.vote"]],
  ["mention.created", ["posts.reply", "posts.vote"]],
  ["post.created", ["posts.reply", "posts.vote", "posts.create"]],
  ["job.listed", ["jobs.apply"]],
  ["job.assigned", ["jobs.submit"]],
];

/** Finds parts of a definition that this network cannot do, or that cannot be intended. */
function checkDefinition({ file, specialist }: LoadedDefinition, profile: Profile, config: Config): Problem[] {
  const { perHour, perDay } = profile.tiers[specialist.tier] ?? {};
  const isDefined = perHour !== undefined && perDay !== undefined;
  const problems = isDefined ? [] : mistakesOf(() => tierLimits(specialist.tier, profile.set), file, `"${specialist.handle}"`);
  for (const [list, names] of [
    ["may", specialist.may],
    ["review", specialist.review],
  ] as const)
    for (const name of names) problems.push(...checkOperation(name, list, file, profile));
  for (const name of specialist.may) problems.push(...checkPayable(name, file, specialist, profile, config));
  for (const name of specialist.review.filter((reviewed) => !specialist.may.includes(reviewed)))
    problems.push(
      warning("review_without_may", `review: "${name}" is not in may, so it is refused before any review`, {
        file,
        hint: `add "${name}" to may`,
      }),
    );
  for (const [kind, writes] of USUAL_WRITES)
    if (specialist.on[kind] !== undefined && !writes.some((write) => specialist.may.includes(write)) && specialist.may.length === 0)
      problems.push(
        warning("handler_without_may", `handles ${kind}, but has no permission to write: it can only read`, {
          file,
          hint: `add for example may: ["${writes[0]}"]`,
        }),
      );
  const mayPay = [specialist.spend, config.guardian.spend].some((caps) => mayPayIn(caps, "usd"));
  problems.push(...checkModels(specialist, file, { models: config.models, named: config.modelNames, mayPay }));
  return [...problems, ...checkWatch(file, specialist), ...checkTools(file, specialist, config)];
}

/** Checks that permitted operations can be paid: an unknown price is refused, and so is money without a cap. */
function checkPayable(name: string, file: string, { spend }: Specialist, profile: Profile, config: Config): Problem[] {
  const price = config.prices[name] ?? profile.operations.get(name)?.price;
  if (price === undefined || price === "free") return [];
  if (price === "unknown")
    return [
      mistake("may_unpriced", `may: the price of ${name} is not stated, and an unknown price never counts as free`, {
        file,
        expected: '"free" or an amount',
        hint: `state it under prices in the config file or in the profile, or remove "${name}" from may`,
      }),
    ];
  if (
    [spend, config.guardian.spend].some((caps) => Object.entries(caps).some(([period, list]) => period !== "perAction" && list.length > 0))
  )
    return [];
  return [
    warning("may_without_cap", `may: ${name} may cost, but no cap allows spending: it will be refused`, {
      file,
      hint: "set a cap, such as spend: { perDay: credits(20) }",
    }),
  ];
}

/** True if a cap of a period allows spending this currency. */
function mayPayIn(caps: Specialist["spend"], currency: string): boolean {
  return Object.entries(caps).some(([period, list]) => period !== "perAction" && list.some((cap) => cap.currency === currency));
}

/** Checks that the tools are those of servers that the settings name, and that a person has accepted them. */
function checkTools(file: string, { tools }: Specialist, { mcp, cwd }: Config): Problem[] {
  if (tools.length === 0) return [];
  const known = Object.keys(mcp);
  const isStranger = (tool: string): boolean => !known.some((server) => tool.startsWith(`${server}/`));
  const strangers = tools.filter(isStranger).map((tool) => {
    const near = nearest(tool.slice(0, tool.indexOf("/")), known);
    return mistake("tool_server_unknown", `tools: the config file has no MCP server for "${tool}"`, {
      file,
      expected: known.length === 0 ? "servers under mcp in the config file" : `a tool of ${known.join(" or ")}`,
      hint: near === undefined ? "add the server under mcp" : `did you mean "${near}"?`,
    });
  });
  let accepted: AcceptedTools = new Map();
  const unreadable = mistakesOf(() => (accepted = readAccepted(cwd)), file, "tools");
  if (unreadable.length > 0) return [...strangers, ...unreadable];
  const unaccepted = tools
    .filter((tool) => !isStranger(tool) && !accepted.has(tool))
    .map((tool) =>
      warning("tool_unaccepted", `tools: nobody has accepted "${tool}", so its calls are refused`, {
        file,
        hint: "read and accept it: retinue check --accept",
      }),
    );
  return [...strangers, ...unaccepted];
}

/** Converts an error of ours about a part of a file to problems; none if nothing is thrown. */
function mistakesOf(check: () => unknown, file: string, part: string): Problem[] {
  try {
    check();
    return [];
  } catch (error) {
    const problem = problemOf(error, { file });
    return [{ ...problem, message: `${part}: ${problem.message}` }];
  }
}

function checkOperation(name: string, list: string, file: string, profile: Profile): Problem[] {
  const operation = profile.operations.get(name);
  if (operation === undefined) {
    const near = nearest(name, [...OPERATION_NAMES, ...profile.operations.keys()]);
    return [
      mistake("operation_unknown", `${list}: there is no operation "${name}"`, {
        file,
        expected: "the name of a write, such as posts.reply",
        hint: near === undefined ? "see the table of operations, or add it to the profile under extra" : `did you mean "${near}"?`,
      }),
    ];
  }
  if (isOperationName(name) && OPERATIONS[name].effect === "read")
    return [warning("read_in_may", `${list}: "${name}" only reads, which needs no permission`, { file, hint: "remove it" })];
  if (operation.unsupported !== undefined)
    return [
      warning("operation_unsupported", `${list}: this network has no ${name}: it will be refused`, {
        file,
        hint: `remove it, unless it is for another network`,
      }),
    ];
  return [];
}

function checkWatch(file: string, specialist: Specialist): Problem[] {
  const { watch, on, concurrency } = specialist;
  const off: [string, boolean][] = [
    ["post.created", watch.feed === undefined && watch.communities.length === 0],
    ["job.listed", watch.jobs === undefined],
    ["mention.created", !watch.mentions],
  ];
  const never = off.filter(([kind, unwatched]) => unwatched && Object.hasOwn(on, kind));
  const problems = never.map(([kind]) =>
    warning("handler_never_called", `handles ${kind}, but watch turns that off`, {
      file,
      hint: "turn it on in watch, or remove the handler",
    }),
  );
  for (const kind of Object.keys(concurrency.byKind))
    if (handlerOf(specialist, kind) === undefined)
      problems.push(
        warning("concurrency_unused", `concurrency names ${kind}, for which there is no handler`, {
          file,
          hint: "remove it, or add the handler",
        }),
      );
  for (const { name, expiresMs, onPileUp } of specialist.schedules)
    if (specialist.may.length > 0 && expiresMs === undefined && onPileUp === "keep")
      problems.push(
        warning(
          "schedule_never_expires",
          `schedules.${name} states no expiresIn: an action of it that states none either never expires, and is sent however late`,
          {
            file,
            hint: 'add expiresIn, such as "1h", or onPileUp: "newest"',
          },
        ),
      );
  const idle = EVENT_KINDS.every((kind) => !Object.hasOwn(on, kind));
  return watch.feed !== undefined && idle
    ? [
        ...problems,
        warning("watch_without_handler", "watches the feed, but has no handler: requests for nothing", {
          file,
          hint: "add on, or remove watch.feed",
        }),
      ]
    : problems;
}
