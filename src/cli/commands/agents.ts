/** `retinue agents`: lists, creates, changes and deletes the specialists' accounts on the network, with the Guardian's key. */
import { existsSync } from "node:fs";
import { extname, relative, resolve } from "node:path";
import type { Config } from "../../config/config.ts";
import { loadDefinition, loadDefinitions } from "../../config/definitions.ts";
import { handleAdvice } from "../../config/handle-advice.ts";
import { issuedKeyFile, keyReference, resolveFrom, statedKeyFile } from "../../config/key-sources.ts";
import { throwMistakes } from "../../config/problem.ts";
import type { Agent } from "../../contract/records.ts";
import { defined } from "../../core/defined.ts";
import { isRetinueError, Misconfigured, Refused, Retryable } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { OPEN } from "../../outbox/intent.ts";
import type { Specialist } from "../../specialist/specialist.ts";
import { flagOption } from "../args.ts";
import { confirmed } from "../asking.ts";
import { EXIT, PROJECT_OPTIONS, type Command, type Context, type ExitCode } from "../command.ts";
import { withGuardian } from "../find-guardian.ts";
import { planProvisioning, provisioningStore, withProvisioning, type Performed, type Provisioning } from "../provisioning.ts";
import { reserveKeyFile } from "../reserve-key-file.ts";
import { say } from "../text.ts";

export const command: Command = {
  name: "agents",
  arguments: "<list|create|update|delete> [handle-or-file]",
  describe:
    "Manages your specialists' accounts on a network of Set B, with the Guardian's own key (RETINUE_GUARDIAN_KEY): create takes a definition's file and keeps the issued key in a file, update shows a diff first, delete asks for the handle.",
  options: [{ flags: "--yes", describe: "do not ask: change or delete it" }, ...PROJECT_OPTIONS],
  examples: [
    "retinue agents list",
    "retinue agents create agents/scout.yaml",
    "retinue agents update scout",
    "retinue agents delete scout --yes",
  ],
  async run(context) {
    const { args } = context;
    const [action = "", about = ""] = args;
    const run = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    if (run === undefined)
      throw new Misconfigured("command_misused", `agents cannot "${action}"`, { expected: `one of ${Object.keys(ACTIONS).join(", ")}` });
    if (about === "" && action !== "list")
      throw new Misconfigured("command_misused", `agents ${action} needs to know which`, {
        expected: action === "delete" ? "a handle" : "a definition's file such as agents/scout.yaml",
      });
    return run(context, about);
  },
};

const ACTIONS: { readonly [action: string]: (context: Context, about: string) => Promise<ExitCode> } = {
  list,
  create,
  update,
  delete: remove,
};

async function list(context: Context): Promise<ExitCode> {
  const { out } = context;
  const config = await context.loadConfig();
  const profile = await planProvisioning(config);
  const agents = await withProvisioning(context, config, profile, (provisioning) => provisioning.list());
  out.table(agents, [
    { title: "handle", value: ({ handle = "" }) => handle },
    { title: "id", value: ({ id }) => id },
    { title: "name", value: ({ name = "" }) => name },
    { title: "tier", value: ({ tier = "" }) => tier },
    { title: "key here", value: ({ handle }) => (handle !== undefined && isKeyHere(config, handle) ? "yes" : "no") },
  ]);
  out.line(out.paint.dim(agents.length === 1 ? "1 agent" : `${agents.length} agents`));
  out.result({ ok: true, agents: agents.map(({ raw: _raw, ...agent }) => agent) });
  return EXIT.done;
}

/** True if the project has a key for this handle. A file that cannot be read is one too. */
function isKeyHere(config: Config, handle: string): boolean {
  try {
    return keyOf(config, handle).read() !== undefined;
  } catch (error) {
    if (error instanceof Misconfigured) return true;
    throw error;
  }
}

const placeOf = ({ specialists }: Config, handle: string) => defined({ handle, keyFile: specialists[handle]?.keyFile });
const keyFileOf = (config: Config, handle: string): string =>
  resolveFrom(config.cwd, statedKeyFile(placeOf(config, handle), config.environment) ?? issuedKeyFile(handle));
const keyOf = (config: Config, handle: string) => keyReference(placeOf(config, handle), config.environment, config.cwd);

async function create(context: Context, file: string): Promise<ExitCode> {
  const { out, cwd } = context;
  const config = await context.loadConfig();
  const profile = await planProvisioning(config);
  const specialist = await definitionIn(context, file);
  const { handle } = specialist;
  const keyFile = keyFileOf(config, handle);
  if (!existsSync(keyFile) && isKeyHere(config, handle))
    throw new Misconfigured("key_exists", `the project already has a key for "${handle}", in ${keyOf(config, handle).source}`, {
      hint: "remove it if it is of no use: it would be used in place of the new one",
    });
  const reserved = reserveKeyFile(keyFile);
  try {
    const { agent, intent, apiKey } = await withProvisioning(context, config, profile, async (provisioning) => {
      if (findIn(await provisioning.list(), handle) !== undefined)
        throw new Refused("agent_exists", `you already have an agent "${handle}" on the network`, {
          hint: `its key is issued once: use that key, or retinue agents delete ${handle} and create it again`,
        });
      const performed = await told(provisioning.perform({ operation: "agents.create", input: { handle, ...statedFields(specialist) } }), {
        hint: `retinue agents list shows if "${handle}" exists; its key is lost: if it does, retinue agents delete ${handle}, then create it again`,
      });
      // Before the runtime is closed: nothing that fails then may lose the key.
      if (performed.apiKey !== undefined) reserved.keep(performed.apiKey);
      return performed;
    });
    if (apiKey === undefined)
      throw new Refused("key_not_answered", `"${handle}" was created, but the answer holds no key that the profile can read`, {
        hint: `regenerate its key on the network's dashboard, or state the key's place in the profile, delete "${handle}" and create it again`,
      });
    const shown = relative(cwd, keyFile);
    out.line(
      say`created ${out.paint.bold(handle)}${agent === undefined ? "" : ` as ${agent.id}`}; its key is in ${shown}, which only you may read`,
    );
    if (config.store.kind === "postgres")
      out.paragraph(`Other machines that run ${handle} need a copy of this file; their processes wait for the key until then.`);
    showRecord(context, config);
    out.result(defined({ ok: true, handle, id: agent?.id, keyFile, intent }));
    return EXIT.done;
  } finally {
    reserved.close();
  }
}

/** Adds what to do to the loss of an answer. */
async function told(performing: Promise<Performed>, { hint }: { readonly hint: string }): Promise<Performed> {
  try {
    return await performing;
  } catch (error) {
    if (error instanceof Retryable && error.code === "answer_lost") throw new Retryable(error.code, error.message, { hint, cause: error });
    throw error;
  }
}

async function definitionIn({ cwd, clock }: Context, file: string): Promise<Specialist> {
  const path = resolve(cwd, file);
  if (!existsSync(path))
    throw new Misconfigured("file_unreadable", "there is no such definition", { file: path, expected: "a file such as agents/scout.yaml" });
  const { definition, problems } = await loadDefinition(path, clock);
  throwMistakes(problems);
  if (definition === undefined) throw new TypeError(`expected a definition or a mistake in ${path}`);
  return definition.specialist;
}

/** The definition of a file, or of a handle of the project. */
async function definitionOf(context: Context, { agents }: Config, about: string): Promise<Specialist> {
  if (extname(about) !== "" && existsSync(resolve(context.cwd, about))) return definitionIn(context, about);
  const { definitions, problems } = await loadDefinitions(agents, context.clock);
  const found = definitions.find(({ specialist }) => specialist.handle === about);
  if (found !== undefined) return found.specialist;
  throwMistakes(problems);
  const { expected = "the handle of a specialist", ...advice } = handleAdvice(
    about,
    definitions.map(({ specialist }) => specialist.handle),
  );
  throw new Misconfigured("specialist_unknown", `there is no definition of "${about}"`, {
    expected: `a definition's file, or ${expected}`,
    ...advice,
  });
}

/** The parts of a definition that the network shows: a part that it does not state stays as it is there. */
function statedFields({ handle, name, bio, skills }: Specialist): JsonObject {
  return defined({
    name: name === handle ? undefined : name,
    bio: bio === "" ? undefined : bio,
    skills: skills.length === 0 ? undefined : [...skills],
  });
}

const findIn = (agents: readonly Agent[], handle: string): Agent | undefined =>
  agents.find((agent) => agent.handle?.toLowerCase() === handle.toLowerCase());

async function existing(provisioning: Provisioning, handle: string): Promise<Agent> {
  const agent = findIn(await provisioning.list(), handle);
  if (agent !== undefined) return agent;
  throw new Refused("agent_unknown", `you have no agent "${handle}" on the network`, { hint: "retinue agents list shows yours" });
}

async function update(context: Context, about: string): Promise<ExitCode> {
  const { out, options } = context;
  const config = await context.loadConfig();
  const profile = await planProvisioning(config);
  const specialist = await definitionOf(context, config, about);
  const { handle } = specialist;
  return withProvisioning(context, config, profile, async (provisioning) => {
    const agent = await existing(provisioning, handle);
    const now: JsonObject = defined({ name: agent.name, bio: agent.bio, skills: agent.skills });
    const changed = Object.entries(statedFields(specialist)).filter(([field, then]) => JSON.stringify(now[field]) !== JSON.stringify(then));
    const changes = changed.map(([field, then]) => ({ field, now: now[field] ?? null, next: then }));
    if (changes.length === 0) {
      out.line(`${handle} is on the network as its definition states`);
      out.result({ ok: true, handle, id: agent.id, changes });
      return EXIT.done;
    }
    out.table(changes, [
      { title: "field", value: ({ field }) => field },
      { title: "now", value: ({ now: before }) => shortOf(before) },
      { title: "then", value: ({ next }) => shortOf(next) },
    ]);
    if (!flagOption(options, "yes") && !(await agreed(context, `Change ${handle} so? [y/N]`))) {
      out.line("nothing was changed");
      return EXIT.failed;
    }
    const { intent } = await told(
      provisioning.perform({ operation: "agents.update", target: agent.id, input: Object.fromEntries(changed) }),
      { hint: `run the command again: it shows what is still to be changed` },
    );
    out.line(`changed ${handle}`);
    showRecord(context, config);
    out.result({ ok: true, handle, id: agent.id, changes, intent });
    return EXIT.done;
  });
}

const shortOf = (value: unknown): string => (typeof value === "string" ? value : value === null ? "" : JSON.stringify(value));

/** Asks the person. Throws `Misconfigured` (`option_missing`) if nobody can be asked. */
async function agreed(context: Context, question: string): Promise<boolean> {
  return confirmed(askOf(context), question, context.out);
}

function askOf({ out, asking }: Context): NonNullable<ReturnType<Context["asking"]>> {
  const ask = out.json ? undefined : asking();
  if (ask !== undefined) return ask;
  throw new Misconfigured("option_missing", "there is no terminal to ask at", { expected: "--yes" });
}

async function remove(context: Context, handle: string): Promise<ExitCode> {
  const { out, options, cwd } = context;
  const config = await context.loadConfig();
  const profile = await planProvisioning(config);
  const isSure = flagOption(options, "yes");
  if (!isSure) await refuseUnfinished(context, handle);
  return withProvisioning(context, config, profile, async (provisioning) => {
    const agent = await existing(provisioning, handle);
    if (!isSure) {
      out.line();
      const typed = await askOf(context)(out.paint.bold(`Type ${handle} to delete its account and end its key:`));
      if (typed?.trim() !== handle) {
        out.line("nothing was deleted");
        return EXIT.failed;
      }
    }
    const { intent } = await told(provisioning.perform({ operation: "agents.delete", target: agent.id, input: {} }), {
      hint: "run the command again: a deleted agent is no longer in retinue agents list",
    });
    const file = keyFileOf(config, handle);
    const left = existsSync(file) ? file : undefined;
    out.line(`deleted ${handle}: its key no longer works`);
    if (left !== undefined) out.line(`its key file stays, and is of no use: ${relative(cwd, left)}`);
    out.line("its definition and its rows in the store stay");
    showRecord(context, config);
    out.result(defined({ ok: true, handle, id: agent.id, keyFile: left, intent }));
    return EXIT.done;
  });
}

async function refuseUnfinished(context: Context, handle: string): Promise<void> {
  const open = await withGuardian(context, async (guardian) => {
    const { specialists } = await guardian.status({});
    return specialists.find((one) => one.handle === handle)?.open;
  }).catch((error: unknown) => {
    if (isRetinueError(error) && error.code === "store_missing") return undefined;
    throw error;
  });
  const count = OPEN.reduce((sum, state) => sum + (open?.[state] ?? 0), 0);
  if (count === 0) return;
  throw new Refused("actions_unfinished", `${handle} has ${count === 1 ? "1 action that is" : `${count} actions that are`} not finished`, {
    hint: `retinue status shows them; --yes deletes ${handle} nevertheless, and they will fail`,
  });
}

function showRecord({ out, cwd }: Context, config: Config): void {
  out.line(out.paint.dim(`recorded: retinue log --store sqlite:${relative(cwd, provisioningStore(config))}`));
}
