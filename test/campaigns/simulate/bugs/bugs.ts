/** Bugs planted on purpose, to see whether the simulation finds them. Each is one or two edits of the source. */

export interface Edit {
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
}

export interface PlantedBug {
  readonly name: string;
  readonly edits: readonly Edit[];
}

const bug = (name: string, file: string, find: string, replace: string, ...more: readonly Edit[]): PlantedBug => ({
  name,
  edits: [{ file, find, replace }, ...more],
});

const ADMISSION = "src/store/sqlite/admission.ts";
const DECIDE = "src/limits/decide.ts";
const QUOTA = "src/limits/quota.ts";
const QUOTA_TABLE = "src/store/sqlite/quota.ts";
const RECONCILE = "src/outbox/reconcile.ts";
const CONCLUDE = "src/outbox/outcome-to-state.ts";
const OUTBOX = "src/store/sqlite/outbox.ts";
const INBOX = "src/store/sqlite/inbox.ts";
const RECOVERY = "src/store/sqlite/recovery.ts";
const FOLD = "src/store/sqlite/fold.ts";
const FACT_LOG = "src/store/sqlite/fact-log.ts";
const DOUBTING = "src/outbox/resolve-in-doubt.ts";
const DOOR = "src/gateway/gateway.ts";
const POLLING = "src/polling/poll-lists.ts";
const RUNTIME = "src/runtime/runtime.ts";

/** In the order of the list in README.md, which came first. */
export const BUGS: readonly PlantedBug[] = [
  bug("conflict ignored", DECIDE, "if (view.conflict !== undefined)", "if (view.conflict === null)"),
  bug("halt ignored", DECIDE, "if (write && view.halt !== undefined)", "if (write && view.halt === null)"),
  bug("approval ignored", DECIDE, "if (view.review) {", "if (view.review === null) {", {
    file: "src/store/sqlite/runs.ts",
    find: 'review !== undefined ? "proposed" : ',
    replace: "",
  }),
  bug("may ignored", DECIDE, "!view.may.includes(request.operation)", "view.may.length < 0", {
    file: "src/gateway/permissions.ts",
    find: "return may.includes(name) ||",
    replace: "return may.length >= 0 ||",
  }),
  bug("in flight not counted", QUOTA, "  state.inFlightTotal += cost;\n", ""),
  bug(
    "quota refunded on unknown",
    QUOTA_TABLE,
    'if (end.ending === "never-left") {',
    'if (end.ending === "never-left" || end.ending === "lost") {',
  ),
  bug("lost requests age from now", QUOTA_TABLE, 'const ending = end.ending === "lost" ?', 'const ending = end.ending === "none" ?'),
  bug(
    "open attempts forgotten at recovery",
    QUOTA_TABLE,
    "for (const open of this.#open.all()) {",
    "for (const open of [] as OpenRequest[]) {",
  ),
  bug("a new key starts empty", QUOTA_TABLE, "if (from === to) return;", "if (from !== to) return;"),
  bug("no quiet period", RECONCILE, "Math.max(sentAt + quietMs, now + quietMs - knownForMs)", "sentAt"),
  bug("quiet by the wall clock alone", RECONCILE, "Math.max(sentAt + quietMs, now + quietMs - knownForMs)", "sentAt + quietMs", {
    file: RUNTIME,
    find: "const clock = steadyClock(options.clock, ledger);",
    replace: "const clock = options.clock;",
  }),
  bug("one look is enough", RECONCILE, "intent.checks + 1 < ABSENT_CHECKS", "intent.checks + 1 < 0"),
  bug("unproven absence believed", RECONCILE, "if (!proof.proven)", "if (proof === null)"),
  bug("at most once sent again", RECONCILE, 'if (intent.effect === "at-most-once")', 'if (intent.effect === "never")'),
  bug(
    "a refusal settles an unknown",
    CONCLUDE,
    'if (intent.everUnknown && intent.effect !== "idempotent")',
    "if (intent.everUnknown === null)",
  ),
  bug(
    "unknown is sent again at once",
    CONCLUDE,
    'if (intent.effect !== "idempotent") return doubt(',
    'if (intent.effect === "none") return doubt(',
  ),
  bug(
    "a crash while sending is forgotten",
    RECOVERY,
    'const next = effect === "idempotent" ? "ready" : "in_doubt";',
    'const next = "ready";',
  ),
  bug("a crash while sending leaves no mark", RECOVERY, "{ state: next, everUnknown: true, nextAt", "{ state: next, nextAt"),
  bug("money freed by a refusal after unknown", OUTBOX, "everUnknown ? undefined : 0", "0", {
    file: CONCLUDE,
    find: 'if (intent.everUnknown && intent.effect !== "idempotent")',
    replace: "if (intent.everUnknown === null)",
  }),
  bug(
    "money freed in doubt",
    OUTBOX,
    "    if (!DROPPED.includes(state)) return;\n",
    '    if (state === "in_doubt") spending.settle(id, 0, now);\n    if (!DROPPED.includes(state)) return;\n',
  ),
  bug("no money set aside", ADMISSION, "if (hold !== undefined && intent !== undefined)", "if (hold === null)"),
  bug("a cap holds only from midnight to midnight", "src/limits/caps.ts", 'perDay: ["day", "rolling-day"]', 'perDay: ["day"]'),
  bug("claimed objects found again", DOUBTING, "refs.filter((ref) => !claimed.has(ref))", "refs"),
  bug(
    "cursor stored before its events",
    INBOX,
    "    const fresh = arrival.events.filter((event) => insertEvent(event, now));\n",
    "    const fresh = arrival.events;\n    if (fresh.length > 0) void commits.hard(() => 0).then(() => commits.hard(() => fresh.forEach((event) => insertEvent(event, now))));\n",
  ),
  bug(
    "handled events come back",
    FOLD,
    "if (!present.events.has(event.seq)) return void drop.run(OPEN.event, event.seq);",
    "if (!present.events.has(event.seq)) return;",
  ),
  bug(
    "suspended events stay running",
    "src/handlers/handle-events.ts",
    "      store.retryEvent(event.seq, { notBefore: result.until",
    "      if (result === null) store.retryEvent(event.seq, { notBefore: result.until",
  ),
  bug("expired while in doubt", "src/live/live-intent.ts", '(state === "ready" && !everUnknown)', 'state === "ready"'),
  bug(
    "dependants of a refused action wait for ever",
    OUTBOX,
    "if (one.target === undefined) applyChange(",
    "if (one.target === null) applyChange(",
  ),
  bug("a reference is never filled in", OUTBOX, "if (createdRef !== undefined) fill(intent, createdRef, now);", ""),
  bug(
    "a change of an event is no fact",
    FACT_LOG,
    "    insert.one(fact);\n",
    '    if (fact.fact !== "change" || fact.of !== "event") insert.one(fact);\n',
  ),
  bug("a doubt has no row after a fold", FOLD, "intents.write(all);", 'intents.write(all.filter(({ state }) => state !== "in_doubt"));'),
  bug(
    "an answer is counted by its cells and by its fact",
    FOLD,
    "countedAll: () => void quotaMark.run(present.last)",
    "countedAll: () => undefined",
  ),
  bug("doubts are never looked at", DOUBTING, "return intents.length === BATCH;", "return false;", {
    file: DOUBTING,
    find: "  for (const { intent, doubt, check } of checks) {\n",
    replace: "  for (const { intent, doubt, check } of checks.slice(BATCH)) {\n",
  }),
  bug(
    "the door sends twice",
    DOOR,
    "const { outcome, wire } = await by.client.exchange(",
    'const twice = async (...a) => { const o = await by.client.exchange(...a); return o.outcome.class === "unknown" ? by.client.exchange(...a) : o; };\n    const { outcome, wire } = await twice(',
  ),
  bug("rows timed by the wall clock", RUNTIME, "const clock = steadyClock(options.clock, ledger);", "const clock = options.clock;"),
  bug(
    "a small clock jump confirms itself",
    "src/limits/ledger-clock.ts",
    "Math.max(time.at, clock.now() + Math.min(0, skewMs))",
    "clock.now()",
    {
      file: "src/store/sqlite/clock-correction.ts",
      find: "Math.max(0, Math.min(kept.unconfirmedMs, passedMs))",
      replace: "Math.max(0, kept.unconfirmedMs)",
    },
  ),
  bug("a list of open jobs proves absence", "src/outbox/read-back.ts", "provesAbsence: false", "provesAbsence: true"),
  bug(
    "a torn page moves the cursor",
    POLLING,
    "return read({ failedPage, isCutShort: true,",
    "return read({ reading: { ...reading, gap: undefined }, failedPage: false, isCutShort: true,",
  ),
  bug(
    "5xx is taken for a refusal",
    "src/client/outcome.ts",
    'return { class: "unknown", reason: `${status}: the network failed`',
    'return { class: "refused", code: "failed", message: "failed"',
  ),
  bug(
    "acknowledged before it is stored",
    "src/webhooks/receiver/accept.ts",
    "const outcome = await options.put({ specialist, id, kind, scheme: verdict.scheme, body, text: known });",
    'const outcome = "stored";\n        void options.put({ specialist, id, kind, scheme: verdict.scheme, body, text: known });',
  ),
  bug(
    "told of by two ways is two events",
    "src/store/sqlite/deliveries.ts",
    "const fresh = plain.events.filter((event) => inbox.insertEvent(event, now, id));",
    "const fresh = plain.events.filter((event) => inbox.insertEvent({ ...event, id: `${event.id} by ${id}` }, now, id));",
  ),
  bug(
    "a delivery ends before its events are stored",
    "src/store/sqlite/delivery-rows.ts",
    "const workOn = createWorkOn(db, insertEvent, nudge);",
    "const later = createWorkOn(db, insertEvent, nudge);\n  const workOn = (...work) => (void commits.hard(() => 0).then(() => commits.hard(() => later(...work))), []);",
  ),
  bug(
    "stored deliveries are forgotten at a restart",
    "src/store/sqlite/delivery-rows.ts",
    "dueDeliveries: async (specialist, now, limit) => due.all(specialist, now, limit).map(readDelivery),",
    "dueDeliveries: async (specialist, now, limit) => due.all(specialist, now, limit).map(readDelivery).filter(({ receivedAt }) => receivedAt >= opened),",
    {
      file: "src/store/sqlite/delivery-rows.ts",
      find: "  const backlog = createBacklog(db);\n",
      replace:
        '  const backlog = createBacklog(db);\n  const opened = numberOf(db.prepare("SELECT coalesce(max(received_at), 0) + 1 AS n FROM delivery").get() ?? {}, "n");\n',
    },
  ),
  bug(
    "deliveries starve polls and schedules",
    RUNTIME,
    "next > work.checkedAt ? next : work.checkedAt + STUCK_CHECK_MS",
    "next > now ? next : now + STUCK_CHECK_MS",
  ),
  bug("a process that has lost its store sends", DOOR, "given.store.requireCurrent()", "undefined"),
];
