/** Prices of actions, the Guardian's spending limits, and actions that wait for approval. */
import type { OperationName } from "../../contract/operations.ts";
import { Refusal } from "../server/exchange.ts";
import type { Answer, Asked } from "../server/exchange.ts";
import type { Account, Approval } from "./rows.ts";
import type { World } from "./world.ts";

/** Waiting approvals per specialist. */
const MAX_PENDING = 1_000;

/** Returns the calendar month (UTC) in which spending counts. */
export function monthOf(at: number): string {
  return new Date(at).toISOString().slice(0, 7);
}

/** Returns the credits spent in the present month. */
export function spentThisMonth(world: World, account: Account): number {
  const { credits, month } = account.spent;
  return credits > 0 && month === monthOf(world.clock.now()) ? credits : 0;
}

/**
 * Charges an action, or answers 202 if the Guardian must approve it first. Throws `Refusal` 403 `spending_limit` if `overSpending` is
 * "refused".
 */
export function spend(world: World, asked: Asked, operation: OperationName, extra = 0): Answer | undefined {
  const credits = (world.assume.prices[operation] ?? 0) + extra;
  if (credits === 0) return undefined;
  const { account } = asked;
  const spent = spentThisMonth(world, account);
  const { perTransaction, perMonth } = account.spending;
  const over = (perTransaction !== undefined && credits > perTransaction) || (perMonth !== undefined && spent + credits > perMonth);
  if (over && !asked.approved) {
    if (world.assume.overSpending === "refused") throw new Refusal(403, "spending_limit", `${credits} credits are over a spending limit`);
    return askGuardian(world, asked, operation, credits);
  }
  account.spent = { month: monthOf(world.clock.now()), credits: spent + credits };
  world.accounts.put(account);
  return undefined;
}

function askGuardian(world: World, asked: Asked, operation: string, credits: number): Answer {
  let pending = 0;
  for (const { accountId, status } of world.approvals.all()) if (accountId === asked.account.id && status === "pending") pending++;
  if (pending >= MAX_PENDING) throw new Refusal(403, "too_many_pending", "too many actions wait for the Guardian already");
  const approval: Approval = {
    id: `apr_${world.next("approval")}`,
    accountId: asked.account.id,
    operation,
    set: asked.set,
    target: asked.target,
    body: JSON.stringify(asked.body),
    credits,
    createdAt: world.clock.now(),
    status: "pending",
  };
  world.approvals.put(approval);
  world.tell({ type: "approval.required", to: asked.account.id, subject: { approval } });
  return { status: 202, view: { type: "pending", approvalId: approval.id, operation } };
}
