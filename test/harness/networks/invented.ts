/** The invented networks. */
import type { Invented } from "./invented-network.ts";
import { agora } from "./agora.ts";
import { harbor } from "./harbor.ts";
import { kontor } from "./kontor.ts";
import { toll } from "./toll.ts";
import { yard } from "./yard.ts";

export const INVENTED: readonly Invented[] = [kontor, yard, agora, harbor, toll];
