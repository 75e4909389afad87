/** The network's own log of replies: what each suite that counts losses and duplicates judges by, and what a post's readers are shown. */
import { handleOf, type DeliveryForm } from "./deliveries.ts";
import { delivered } from "../subjects/webhook.ts";

export interface Replies {
  /** When each reply to an event came, by `performance.now()`. */
  readonly at: ReadonlyMap<number, readonly number[]>;
  /** When the last one came; 0 before the first. */
  lastAt(): number;
  /** Replies beyond the first of each event. */
  doubled(): number;
  /** Of a sink: keeps the reply, and answers its id. */
  onEffect(event: number): string;
  /** Of a sink: a post with the replies it got. Anything else is an empty list. */
  onRead(path: string): string;
}

export function keepReplies(form: DeliveryForm = {}): Replies {
  const at = new Map<number, number[]>();
  let lastAt = 0;
  return {
    at,
    lastAt: () => lastAt,
    doubled: () => [...at.values()].reduce((sum, times) => sum + times.length - 1, 0),
    onEffect(n) {
      lastAt = performance.now();
      const before = at.get(n) ?? [];
      at.set(n, [...before, lastAt]);
      return `r${n}-${before.length}`;
    },
    onRead(path) {
      const n = Number(/\/posts\/e(\d+)$/.exec(path.split("?")[0] ?? "")?.[1] ?? Number.NaN);
      if (Number.isNaN(n)) return "[]";
      const handle = handleOf(n, form);
      const author = { id: `id${handle.slice(1)}`, handle };
      const replies = Array.from({ length: at.get(n)?.length ?? 0 }, (_, i) => ({
        id: `r${n}-${i}`,
        parent_id: `e${n}`,
        content: `thanks e${n}`,
        author,
      }));
      return JSON.stringify({ ...delivered(n).data, replies });
    },
  };
}
