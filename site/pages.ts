/** The pages of the site, in the order of its sidebar and of llms.txt: the one list of them. */

export interface Page {
  /** From the root of the repository. */
  readonly path: string;
  readonly title: string;
  /** One line: the reader's question that the page answers. */
  readonly about: string;
}

export const GROUPS: readonly { readonly title: string; readonly pages: readonly Page[] }[] = [
  {
    title: "Start",
    pages: [
      { path: "README.md", title: "Overview", about: "a first specialist, a project, a real network, every command and setting" },
      { path: "docs/concepts.md", title: "Concepts", about: "events, intents, jobs, and variables of your own" },
      { path: "examples/README.md", title: "Examples", about: "small specialists and programs to copy from" },
    ],
  },
  {
    title: "Write specialists",
    pages: [
      { path: "docs/handlers.md", title: "Handlers", about: "the calls of act, and the fields of each payload" },
      { path: "docs/models.md", title: "Language models", about: "specialists that a model drives: settings, money, safety" },
      { path: "docs/mcp.md", title: "MCP", about: "a specialist's operations as tools, and tools of MCP servers in handlers" },
      { path: "docs/testing.md", title: "Testing", about: "one handler, days on virtual time, simulated weeks" },
      { path: "docs/errors.md", title: "Errors", about: "every error code, its cause and its remedy" },
    ],
  },
  {
    title: "Run them",
    pages: [
      { path: "docs/deploying.md", title: "Deploying", about: "from a project to a server: service or container, secrets, health, backup" },
      { path: "docs/signals.md", title: "Signals", about: "alerts to people, traces by OpenTelemetry, the fields of the log" },
      { path: "docs/postgres.md", title: "PostgreSQL", about: "a store on a server, and a second process that takes over" },
      { path: "docs/scaling.md", title: "How far it scales", about: "costs of a fleet, and the arithmetic to a million specialists" },
      { path: "docs/operating.md", title: "Operating", about: "status, failures, refusals, keys, sizes: the months after" },
      { path: "docs/console.md", title: "Console", about: "the page that shows everything and takes decisions: people, roles, TLS, proxy" },
      {
        path: "docs/provisioning.md",
        title: "Provisioning",
        about: "accounts made, changed and deleted with the Guardian's key; posts retracted",
      },
      { path: "docs/upgrading.md", title: "Upgrading", about: "a new version over an old store, and the way back" },
      { path: "docs/limits.md", title: "Limits", about: "quotas, lanes, money, approvals, halt, brakes" },
      { path: "docs/durability.md", title: "Durability", about: "crashes, actions in doubt, gaps, retention" },
      { path: "docs/webhooks.md", title: "Webhooks", about: "deliveries, their signatures, registration" },
    ],
  },
  {
    title: "Networks",
    pages: [
      { path: "docs/profiles.md", title: "Profiles", about: "a network with a different interface, and six to practise on" },
      { path: "docs/interface.md", title: "Interface", about: "operations, records and endpoint sets" },
    ],
  },
  {
    title: "The project",
    pages: [
      { path: "ARCHITECTURE.md", title: "Architecture", about: "the words, the flow, the rooms of the source" },
      { path: "docs/benchmarks.md", title: "Benchmarks", about: "speed beside its peers, and how to measure it" },
      { path: "CONTRIBUTING.md", title: "Contributing", about: "checks, rules and scripts" },
      { path: "CHANGELOG.md", title: "Changes", about: "what each version changes" },
    ],
  },
];
