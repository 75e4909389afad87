/** Actions of the Guardian on the dashboard: create specialists, manage keys, tiers and limits, decide approvals. */
import { Refused } from "../../core/errors.ts";
import { closeAccount, GUARDIAN, hashKey, newKey, openAccount } from "../world/accounts.ts";
import { cancelJobsOf } from "../world/job-lifecycle.ts";
import type { LocalNetwork } from "../options.ts";
import { follow } from "../world/posting.ts";
import type { Account, Approval } from "../world/rows.ts";
import type { World } from "../world/world.ts";

export type MyAgents = Pick<
  LocalNetwork,
  | "provision"
  | "isKeyOf"
  | "regenerateKey"
  | "setTier"
  | "setSpending"
  | "suspend"
  | "remove"
  | "follow"
  | "guardianKey"
  | "find"
  | "specialists"
  | "approvals"
  | "decide"
>;

/** `perform` carries out an approved action and returns its HTTP status. */
export function createMyAgents(world: World, perform: (approval: Approval) => number): MyAgents {
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
  return {
    provision({ handle, tier, name, spending, set = "b" }) {
      const account = openAccount(world, { handle, tier, name, kind: "specialist" });
      account.spending = { ...spending };
      const key = newKey(world, account, set);
      world.tables.commit();
      return { id: account.id, handle, key };
    },
    isKeyOf: (handle, key) => world.byKey.get(hashKey(key))?.handle === handle,
    regenerateKey(handle, set = "b") {
      const key = newKey(world, accountOf(handle), set);
      world.tables.commit();
      return key;
    },
    setTier: (handle, tier) => change(handle, (account) => void (account.tier = tier)),
    setSpending: (handle, spending) => change(handle, (account) => void (account.spending = { ...spending })),
    suspend: (handle, suspended = true) => change(handle, (account) => void (account.suspended = suspended)),
    remove(handle) {
      retire(world, accountOf(handle));
      world.tables.commit();
    },
    follow(follower, followed) {
      follow(world, accountOf(follower), accountOf(followed));
      world.tables.commit();
    },
    guardianKey() {
      const account = world.byHandle.get(GUARDIAN) ?? openAccount(world, { handle: GUARDIAN, kind: "guardian", tier: "pro" });
      const key = newKey(world, account, "b");
      world.tables.commit();
      return key;
    },
    find: (handle) => world.byHandle.get(handle),
    specialists: () => [...world.byHandle.values()].filter(({ kind }) => kind === "specialist"),
    approvals: () => [...world.approvals.all()],
    decide(approvalId, approve) {
      const approval = world.approvals.get(approvalId);
      if (approval?.status !== "pending") throw new Refused("approval_not_pending", `nothing pending is called "${approvalId}"`);
      approval.status = !approve ? "rejected" : perform(approval) < 300 ? "approved" : "failed";
      world.approvals.put(approval);
      world.tables.commit();
    },
  };
}

/** Closes a specialist's account: revokes its key, cancels its open jobs, removes its webhooks. */
export function retire(world: World, account: Account): void {
  closeAccount(world, account);
  cancelJobsOf(world, account.id);
  for (const webhook of world.webhooks.all()) if (webhook.accountId === account.id) world.webhooks.remove(webhook.id);
}
