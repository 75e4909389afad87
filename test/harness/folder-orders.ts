/** Orders that are given in the folder of a process, whose socket takes them, and the rows that the store has of orders. */
import { inProcess } from "./cli.ts";

type Order = (...words: readonly string[]) => ReturnType<typeof inProcess>;

export function folderOrders(root: string, store: string): { readonly order: Order; readonly listed: () => Promise<readonly unknown[]> } {
  const order: Order = (...words) => inProcess([...words, "--store", store], { cwd: root });
  return { order, listed: async () => JSON.parse((await order("log", "--orders", "--json")).stdout || "{}").entries ?? [] };
}
