/** The local network: an independent implementation of the whole interface, both sets over one world. */
import type { EndpointSet } from "../contract/operations.ts";
import { OPERATIONS } from "../contract/operations.ts";
import { sleep } from "../core/clock.ts";
import { Refused } from "../core/errors.ts";
import { closeAccount, newKey, openAccount } from "./accounts.ts";
import { createAgenda } from "./agenda.ts";
import { ConnectionLost, Refusal } from "./answer.ts";
import type { NetworkReply, NetworkRequest } from "./answer.ts";
import { DEFAULT_ASSUMPTIONS } from "./assumptions.ts";
import { createDeliveries, deliverByHttp } from "./deliveries.ts";
import { createDesk } from "./desk.ts";
import type { Desk } from "./desk.ts";
import { createFaults } from "./faults.ts";
import type { FaultBook, Mishap } from "./faults.ts";
import { takeDueStep } from "./job-life.ts";
import { COMMUNITIES } from "./library.ts";
import type { LocalNetwork, LocalNetworkOptions } from "./local-network.ts";
import { createResidents } from "./residents.ts";
import { routeOf } from "./router.ts";
import { failedReply, limitedReply, redirectReply, spoil, stoppedReply } from "./spoilt.ts";
import { summarise } from "./summary.ts";
import { openTables } from "./tables.ts";
import { checkDeliverable, rebuildTask } from "./tasks/index.ts";
import { openTruth } from "./truth.ts";
import { openWorld } from "./world.ts";
import type { Account, Keep, World } from "./world.ts";

const DEFAULT_KEEP: Keep = { posts: 20_000, jobs: 5_000, requests: 200_000, effects: 1_000_000 };

/** Throws `Misconfigured` where the data file cannot be used. */
export function createLocalNetwork(options: LocalNetworkOptions): LocalNetwork {
  const { clock } = options;
  const { world, desk, faults, deliveries, residents } = assemble(options);
  let open = true;
  const accountOf = (handle: string): Account => {
    const account = world.byHandle.get(handle);
    if (account?.kind !== "specialist") throw new Refused("agent_unknown", `there is no specialist "${handle}" on this network`);
    return account;
  };
  const change = (handle: string, apply: (account: Account) => void): void => {
    const account = accountOf(handle);
    apply(account);
    world.accounts.put(account);
    world.tables.commit();
  };
  const network: LocalNetwork = {
    handle(set, request) {
      if (!open) return Promise.reject(new ConnectionLost("the network has stopped"));
      return faults.any ? misbehaving(world, desk, faults, set, request, () => open) : answerNow(desk, set, request);
    },
    provision({ handle, tier, name, spending, set = "b" }) {
      const account = openAccount(world, { handle, tier, name, kind: "specialist" });
      account.spending = { ...spending };
      const key = newKey(world, account, set);
      world.tables.commit();
      return { id: account.id, handle, key };
    },
    regenerateKey(handle, set = "b") {
      const key = newKey(world, accountOf(handle), set);
      world.tables.commit();
      return key;
    },
    setTier: (handle, tier) => change(handle, (account) => void (account.tier = tier)),
    setSpending: (handle, spending) => change(handle, (account) => void (account.spending = { ...spending })),
    suspend: (handle, suspended = true) => change(handle, (account) => void (account.suspended = suspended)),
    remove(handle) {
      closeAccount(world, accountOf(handle));
      world.tables.commit();
    },
    guardianKey() {
      const account = world.byHandle.get("guardian") ?? openAccount(world, { handle: "guardian", kind: "guardian", tier: "pro" });
      const key = newKey(world, account, "b");
      world.tables.commit();
      return key;
    },
    find: (handle) => world.byHandle.get(handle),
    specialists: () => [...world.byHandle.values()].filter(({ kind }) => kind === "specialist"),
    jobs: () => world.board,
    approvals: () => [...world.approvals.all()],
    decide(approvalId, approve) {
      const approval = world.approvals.get(approvalId);
      if (approval?.status !== "pending") throw new Refused("approval_not_pending", `nothing pending is called "${approvalId}"`);
      approval.status = !approve ? "rejected" : desk.perform(approval) < 300 ? "approved" : "failed";
      world.approvals.put(approval);
      world.tables.commit();
    },
    deliveries: () => deliveries.list(),
    assume: (changes) => void Object.assign(world.assume, changes),
    assumptions: world.assume,
    // Loaded when asked for: simulation has no sockets and need not pay for an HTTP server.
    listen: async (how) => (await import("./http.ts")).listen(network, how),
    faults,
    truth: world.truth,
    summary: (handles) => summarise(world, handles),
    start() {
      deliveries.start();
      residents?.start();
      world.agenda.start();
    },
    async stop() {
      world.agenda.stop();
      await deliveries.stop();
      if (!open) return;
      open = false;
      world.tables.commit();
      world.tables.close();
    },
  };
  return network;

  function assemble(from: LocalNetworkOptions) {
    const tables = openTables(from.data);
    const keep = { ...DEFAULT_KEEP, ...from.keep };
    const book = createFaults(from.random.fork("faults"));
    const agenda = createAgenda(clock, (key, now) => dispatch(key, now));
    const queue = createDeliveries(
      () => place,
      () => front.dialects.b,
      book,
      from.webhooks?.deliver ?? deliverByHttp,
      tables.table("delivery"),
    );
    const place: World = openWorld({
      clock,
      random: from.random,
      secrets: from.secrets ?? from.random,
      tables,
      keep,
      scale: from.scale ?? 1,
      assume: { ...DEFAULT_ASSUMPTIONS, ...(from.window === undefined ? {} : { window: from.window }), ...from.assume },
      truth: openTruth(tables, keep),
      agenda,
      rebuildInput: (task) => rebuildTask(task).input,
      tell: queue.tell,
    });
    foundCommunities(place);
    const front = createDesk(place);
    const people =
      from.residents === undefined || from.residents === false ? undefined : createResidents(place, from.residents, tables.table("plan"));
    const dispatch = (key: string, now: number): void => {
      const [what, id = ""] = key.split(":", 2);
      if (what === "job") {
        const job = place.jobs.get(id);
        if (job !== undefined) takeDueStep(place, job, now, checkDeliverable);
      } else if (what === "delivery") queue.attempt(id, now);
      else people?.act(id, now);
      tables.commit();
    };
    tables.commit();
    return { world: place, desk: front, faults: book, deliveries: queue, residents: people };
  }
}

async function answerNow(desk: Desk, set: EndpointSet, request: NetworkRequest): Promise<NetworkReply> {
  return desk.process(set, request);
}

/** Draws whether a mishap befalls the request, and answers accordingly. */
async function misbehaving(
  world: World,
  desk: Desk,
  faults: FaultBook,
  set: EndpointSet,
  request: NetworkRequest,
  open: () => boolean,
): Promise<NetworkReply> {
  const operation = operationOf(set, request);
  const agent = desk.whose(set, request)?.handle ?? "";
  const writes = operation === undefined ? request.method !== "GET" : OPERATIONS[operation].effect !== "read";
  const mishap = faults.draw({ set, operation: operation ?? "", agent, writes });
  return mishap === undefined ? desk.process(set, request) : suffer(world, desk, set, request, mishap, open);
}

function operationOf(set: EndpointSet, { method, path }: NetworkRequest): keyof typeof OPERATIONS | undefined {
  try {
    return routeOf(set, method, path).operation;
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

async function suffer(
  world: World,
  desk: Desk,
  set: EndpointSet,
  request: NetworkRequest,
  mishap: Mishap,
  open: () => boolean,
): Promise<NetworkReply> {
  const { clock } = world;
  switch (mishap.do) {
    case "delay-reply": {
      const reply = desk.process(set, request);
      await sleep(clock, mishap.ms);
      return reply;
    }
    case "delay-request":
      await sleep(clock, mishap.ms);
      if (!open()) throw new ConnectionLost("the network has stopped");
      return desk.process(set, request);
    case "land-late":
      clock.after(mishap.ms, () => void (open() && desk.process(set, request)));
      throw new ConnectionLost("reset while the request was on its way");
    case "lose-request":
      throw new ConnectionLost("reset before the request arrived");
    case "lose-reply":
      desk.process(set, request);
      throw new ConnectionLost("reset before the answer arrived");
    case "twice":
      desk.process(set, request);
      return desk.process(set, request);
    case "limited":
      return limitedReply(mishap.dialect, mishap.seconds ?? 30, clock.now());
    case "status":
      if (mishap.when === "after") desk.process(set, request);
      return failedReply(mishap.status);
    case "body":
      return spoil(desk.process(set, request), mishap.body);
    case "redirect":
      return redirectReply(mishap.to);
    case "account":
      return stoppedReply(mishap.answer);
  }
}

function foundCommunities(world: World): void {
  if (world.communities.size > 0) return;
  for (const [handle, name, description] of COMMUNITIES)
    world.communities.put({ id: `com_${world.next("community")}`, handle, name, description, createdAt: world.clock.now(), members: [] });
}
