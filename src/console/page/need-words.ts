/** The words and the tone of each kind of matter that needs a person. */
import type { NeedKind } from "../../guardian/needs-you.ts";
import type { NeedOrder } from "./answers.ts";
import type { Tone } from "./condition.ts";

export const KINDS: { readonly [kind in NeedKind]: { readonly one: string; readonly many: string; readonly tone: Tone } } = {
  store_lost: { one: "store lost", many: "stores lost", tone: "bad" },
  halt: { one: "halt", many: "halts", tone: "bad" },
  approval: { one: "approval", many: "approvals", tone: "accent" },
  key: { one: "refused key", many: "refused keys", tone: "bad" },
  frozen: { one: "frozen account", many: "frozen accounts", tone: "bad" },
  doubt: { one: "in doubt", many: "in doubt", tone: "warn" },
  parked: { one: "parked", many: "parked", tone: "bad" },
  undelivered: { one: "undelivered job", many: "undelivered jobs", tone: "bad" },
  pending: { one: "waits for the network", many: "wait for the network", tone: "calm" },
  stopped: { one: "stopped operation", many: "stopped operations", tone: "warn" },
  failing: { one: "failing handler", many: "failing handlers", tone: "warn" },
  drift: { one: "changed answer", many: "changed answers", tone: "warn" },
  model: { one: "model unavailable", many: "models unavailable", tone: "warn" },
};

export function isNeedKind(name: string): name is NeedKind {
  return Object.hasOwn(KINDS, name);
}

/** The look of an order's button: yes stands out, no and what cannot be undone is red. */
export function buttonOf({ order, with: query }: NeedOrder): "primary" | "danger" | "" {
  if (order === "approve") return "primary";
  return order === "reject" || query["verdict"] === "give-up" ? "danger" : "";
}

const MANY_LABELS: { readonly [name: string]: string | undefined } = { reject: "Reject", retry: "Retry", "settle give-up": "Give up" };

/** Identity of an order among those of other matters: its name and its verdict. */
export function orderId({ order, with: query }: NeedOrder): string {
  const verdict = query["verdict"];
  return typeof verdict === "string" ? `${order} ${verdict}` : order;
}

/** Orders that may be given for several matters at once, with the number of matters of each. */
export function sharedOrders(
  all: readonly (readonly NeedOrder[])[],
): readonly { readonly id: string; readonly label: string; readonly count: number }[] {
  const found = Map.groupBy(
    all.flat().filter(({ many }) => many),
    orderId,
  );
  return [...found].map(([id, orders]) => ({ id, label: MANY_LABELS[id] ?? orders[0]?.label ?? id, count: orders.length }));
}
