/** The invented networks. */
import type { Invented } from "./invented-network.ts";
import { kontor } from "./kontor.ts";
import { yard } from "./yard.ts";

export const INVENTED: readonly Invented[] = [kontor, yard];
