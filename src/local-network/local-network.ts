/** The local network: an independent implementation of the whole interface, both sets over one world. */
import { Refused } from "../core/errors.ts";
import { ConnectionLost } from "./server/exchange.ts";
import { assemble } from "./assemble.ts";
import type { LocalNetwork, LocalNetworkOptions } from "./options.ts";
import { answerWithFaults } from "./faults/apply-fault.ts";
import { createMyAgents } from "./my-agents/actions.ts";
import { summarise } from "./summary.ts";

/** Opens a world, new or from its data file. Throws `Misconfigured` if the file cannot be used. */
export function createLocalNetwork(options: LocalNetworkOptions): LocalNetwork {
  const { world, requestHandler, faults, deliveries, residents } = assemble(options);
  const stopping = new AbortController();
  const injection = { clock: options.clock, requestHandler, faults, stopped: stopping.signal };
  const network: LocalNetwork = {
    // Synchronous until the answer exists, so that requests take effect in the order in which they are made.
    async handle(set, request) {
      if (stopping.signal.aborted) throw new ConnectionLost("the network has stopped");
      return faults.any ? answerWithFaults(injection, set, request) : requestHandler.process(set, request);
    },
    ...createMyAgents(world, (approval) => requestHandler.perform(approval)),
    jobs: () => world.board,
    deliveries: () => deliveries.list(),
    redeliver(id) {
      if (!deliveries.redeliver(id)) throw new Refused("nothing_found", `there is no delivery "${id}" with a webhook that takes it`);
    },
    assume: (changes) => void Object.assign(world.assume, changes),
    assumptions: world.assume,
    // Loaded on demand: a simulation has no sockets and needs no HTTP server.
    listen: async (how) => (await import("./server/http-server.ts")).listen(network, how),
    faults,
    truth: world.truth,
    summary: (handles) => summarise(world, handles),
    start() {
      deliveries.start();
      residents?.start();
      world.timers.start();
    },
    async stop() {
      world.timers.stop();
      await deliveries.stop();
      if (stopping.signal.aborted) return;
      stopping.abort();
      world.tables.commit();
      world.tables.close();
    },
  };
  return network;
}
