/** Bugs of a fleet, planted one at a time: each has to be found by the tests of its promise. */

export interface PlantedBug {
  readonly name: string;
  /** The file that has it, and what is written there for what. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** The tests that have to fail. */
  readonly tests: string;
}

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: "a holder writes on another connection than that of its locks",
    file: "src/store/postgres/postgres-store.ts",
    from: "const groups = new CommitGroups({ connection,",
    to: 'const groups = new CommitGroups({ connection: await openConnection({ address, purpose: "check" }),',
    tests: "test/store/postgres/shards.test.ts",
  },
  {
    name: "the name of the machine is the identity of a process",
    file: "src/store/postgres/presence.ts",
    from: 'return Number(given?.["number"]);',
    to: "return hostname().length;",
    tests: "test/store/postgres/membership.test.ts",
  },
  {
    name: "a notice is sent inside the commit",
    file: "src/store/postgres/commit-groups.ts",
    from: "return `WITH ${written",
    to: "return `WITH told AS (SELECT pg_notify('retinue', 'look')), ${written",
    tests: "test/store/postgres/shardable.test.ts",
  },
  {
    name: "a part of the Guardian's money counts twice",
    file: "src/store/postgres/guardian-money.ts",
    from: "purse.granted += granted;",
    to: "purse.granted += 2 * granted;",
    tests: "test/store/postgres/guardian-money.test.ts",
  },
  {
    name: "a process that is stopped is taken for gone",
    file: "src/runtime/make-part.ts",
    from: "sentElsewhereUntil: () => silent.maySendUntil,",
    to: "sentElsewhereUntil: () => Number.NEGATIVE_INFINITY,",
    tests: "test/runtime/stopped-sender.test.ts",
  },
  {
    name: "a promoted replica is known by its last checkpoint",
    file: "src/store/postgres/holders.ts",
    from: 'const TIMELINE = "(',
    to: 'const TIMELINE = "(SELECT timeline_id FROM pg_control_checkpoint())" || "(',
    tests: "test/runtime/failover.test.ts",
  },
  {
    name: "what a holder that ends has spent is room for others",
    file: "src/store/postgres/guardian-sums.ts",
    from: "greatest(coalesce(g.granted, 0) - coalesce(r.held + r.posted, 0), 0) AS left",
    to: "coalesce(g.granted, 0) - coalesce(r.held + r.posted, 0) AS left",
    tests: "test/store/postgres/guardian-money.test.ts",
  },
  {
    name: "an event is taken before the past of its specialist is here",
    file: "src/store/postgres/past.ts",
    from: "if (!this.lacks(specialist)) return undefined;",
    to: "if (specialist.length > 0) return undefined;",
    tests: "test/store/postgres/past.test.ts",
  },
  {
    name: "a store that is being opened is told of no halt",
    file: "src/runtime/orders-meanwhile.ts",
    from: "this.#given?.push(order);",
    to: "void order;",
    tests: "test/guardian/moving-guardian.test.ts",
  },
];
