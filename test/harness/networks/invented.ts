/** The invented networks. */
import type { Invented } from "./invented-network.ts";
import { kontor } from "./kontor.ts";

export const INVENTED: readonly Invented[] = [kontor];
