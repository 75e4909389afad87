/** HTML of the Guardian's page. Every outside value is escaped. */
import { TIER_LIMITS, TIERS } from "../../contract/tiers.ts";
import type { LocalNetwork } from "../options.ts";

/** Specialists and approvals shown on one page. */
const MAX_SHOWN = 500;
const MAX_DELIVERIES = 100;

export function loginPage(notice = ""): string {
  return layout(
    "Log in",
    `${noticeBox(notice)}<form method="post" action="/guardian/login">
      <label>Token <input name="token" type="password" autocomplete="off" required autofocus></label>
      <button>Log in</button>
    </form>
    <p>The token was given when the local network started.</p>`,
  );
}

export function myAgentsPage(network: LocalNetwork, csrf: string, notice = ""): string {
  const agents = network.specialists();
  const rows = agents
    .slice(0, MAX_SHOWN)
    .map((agent) => agentRow(agent, csrf))
    .join("\n");
  const more = agents.length > MAX_SHOWN ? `<p>${agents.length - MAX_SHOWN} more are not shown.</p>` : "";
  return layout(
    "My Agents",
    `${noticeBox(notice)}
    <section><h2>Create a specialist</h2>
    <form method="post" action="/guardian/create">${hidden("csrf", csrf)}
      <label>Handle <input name="handle" required pattern="[a-z0-9][a-z0-9_\\-]{1,39}" title="2 to 40 of a-z, 0-9, _ and -"></label>
      <label>Name <input name="name" maxlength="100"></label>
      <label>Tier ${tierSelect("free")}</label>
      <label>Key style <select name="style"><option value="b">Set B (sk_live_)</option><option value="a">Set A (sk-agent-)</option></select></label>
      <button>Create</button>
    </form></section>
    <section><h2>Specialists</h2>
    ${agents.length === 0 ? "<p>None yet.</p>" : `<ul class="agents">${rows}</ul>${more}`}
    </section>
    ${approvals(network, csrf)}
    ${deliveries(network, csrf)}`,
  );
}

function agentRow(agent: ReturnType<LocalNetwork["specialists"]>[number], csrf: string): string {
  const { handle, name, spending, tally } = agent;
  const who = `${hidden("csrf", csrf)}${hidden("handle", handle)}`;
  const limit = (key: "perTransaction" | "perMonth", label: string): string =>
    `<label>${label} <input name="${key}" type="number" min="0" step="any" value="${spending[key] ?? ""}" placeholder="none"></label>`;
  const button = (verb: string): string => `<button aria-label="${verb} of @${escape(handle)}">${verb}</button>`;
  return `<li><div><h3>@${escape(handle)}</h3><p>${escape(name)}<br>Reputation ${agent.reputation}, ${tally.requests} requests, ${tally.accepted} jobs accepted</p></div>
    <form method="post" action="/guardian/tier">${who}<label>Tier ${tierSelect(agent.tier)}</label>${button("Set tier")}</form>
    <form method="post" action="/guardian/spending">${who}${limit("perTransaction", "Credits an action")}${limit("perMonth", "Credits a month")}${button("Set limits")}</form>
    <form method="post" action="/guardian/regenerate">${who}${button("Regenerate API key")}</form></li>`;
}

function approvals(network: LocalNetwork, csrf: string): string {
  const pending = network.approvals().filter(({ status }) => status === "pending");
  if (pending.length === 0) return "";
  const handles = new Map(network.specialists().map(({ id, handle }) => [id, handle]));
  const rows = pending.slice(0, MAX_SHOWN).map(({ id, accountId, operation, credits, body }) => {
    const form = (value: string, label: string): string =>
      `<form method="post" action="/guardian/decide">${hidden("csrf", csrf)}${hidden("approval", id)}${hidden("approve", value)}<button>${label}</button></form>`;
    return `<tr><td>@${escape(handles.get(accountId) ?? accountId)}</td><td>${escape(operation)}</td><td>${credits}</td><td><code>${escape(body.slice(0, 500))}</code></td><td>${form("yes", "Approve")}${form("no", "Reject")}</td></tr>`;
  });
  return `<section><h2>Waiting for you</h2><div class="wide"><table><thead><tr><th>Specialist</th><th>Action</th><th>Credits</th><th>What</th><th>Decision</th></tr></thead><tbody>${rows.join("\n")}</tbody></table></div></section>`;
}

function deliveries(network: LocalNetwork, csrf: string): string {
  const all = network.deliveries();
  if (all.length === 0) return "";
  const rows = all.slice(-MAX_DELIVERIES).toReversed();
  const count = rows.length < all.length ? `: the newest ${rows.length} of ${all.length}` : "";
  const cells = rows.map(({ id, agent, type, createdAt, status, attempts }) => {
    const last = attempts.at(-1);
    const answer =
      last === undefined ? "not sent yet" : last.status === 0 ? `no answer: ${last.reason ?? "no reason known"}` : `HTTP ${last.status}`;
    const again = `<form method="post" action="/guardian/redeliver">${hidden("csrf", csrf)}${hidden("delivery", id)}<button aria-label="Redeliver ${escape(id)}">Redeliver</button></form>`;
    return `<tr><td><code>${escape(id)}</code></td><td>@${escape(agent)}</td><td>${escape(type)}</td><td>${new Date(createdAt).toISOString()}</td><td>${status}</td><td>${escape(answer.slice(0, 200))}</td><td>${attempts.length}</td><td>${again}</td></tr>`;
  });
  return `<section><h2>Webhook deliveries${count}</h2><div class="wide"><table><thead><tr><th>Delivery</th><th>Specialist</th><th>Event</th><th>Queued</th><th>State</th><th>Last answer</th><th>Attempts</th><th></th></tr></thead><tbody>${cells.join("\n")}</tbody></table></div></section>`;
}

/** Shows a key for the only time. */
export function keyPage(handle: string, key: string): string {
  return layout(
    "API key",
    `<p>The key of <strong>@${escape(handle)}</strong>. Copy it now: it is not shown again.</p>
    <p><code class="key">${escape(key)}</code></p>
    <p>Retinue reads it from <code>RETINUE_KEY_${escape(handle.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_"))}</code>, in the environment or in <code>.env</code>.</p>
    <p><a href="/guardian">Back to My Agents</a></p>`,
  );
}

export function confirmationPage(handle: string, csrf: string, style: "a" | "b"): string {
  const chosen = (value: string): string => (value === style ? " selected" : "");
  return layout(
    "Regenerate API key",
    `<p>The present key of <strong>@${escape(handle)}</strong> stops working at once. Whatever uses it needs the new one.</p>
    <form method="post" action="/guardian/regenerate">${hidden("csrf", csrf)}${hidden("handle", handle)}${hidden("confirm", "yes")}
      <label>Key style <select name="style"><option value="b"${chosen("b")}>Set B (sk_live_)</option><option value="a"${chosen("a")}>Set A (sk-agent-)</option></select></label>
      <button>Regenerate</button> <a href="/guardian">Cancel</a>
    </form>`,
  );
}

function tierSelect(selected: string): string {
  const options = TIERS.map((tier) => {
    const { perHour, perDay } = TIER_LIMITS[tier];
    return `<option value="${tier}"${tier === selected ? " selected" : ""}>${tier} (${perHour}/h, ${perDay}/d)</option>`;
  });
  return `<select name="tier">${options.join("")}</select>`;
}

function hidden(name: string, value: string): string {
  return `<input type="hidden" name="${name}" value="${escape(value)}">`;
}

function noticeBox(notice: string): string {
  return notice === "" ? "" : `<p class="notice" role="alert">${escape(notice)}</p>`;
}

function layout(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Retinue, local network</title><link rel="stylesheet" href="/guardian/style.css"></head>
<body><header><h1>${title}</h1></header><main>${body}</main></body></html>`;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

export const STYLE = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 75rem; margin: 0 auto; padding: 1rem; }
section { margin-block: 2rem; }
form { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: end; }
.agents { list-style: none; padding: 0; }
.agents li { display: flex; flex-wrap: wrap; gap: 0.75rem 2rem; align-items: end; padding-block: 1rem; border-top: 1px solid color-mix(in srgb, currentColor 25%, transparent); }
.agents li > div { flex: 1 1 100%; }
.agents h3, .agents p { margin: 0; }
.agents form { gap: 0.5rem; }
label { display: inline-flex; flex-direction: column; font-size: 0.875rem; }
input, select, button { font: inherit; padding: 0.25rem 0.5rem; }
input[type=number] { width: 7rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 0.5rem; border-bottom: 1px solid color-mix(in srgb, currentColor 25%, transparent); vertical-align: top; }
.notice { border: 2px solid #b3261e; padding: 0.5rem 1rem; }
.key { font-size: 1.125rem; user-select: all; overflow-wrap: anywhere; }`;
