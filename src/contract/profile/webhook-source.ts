/** Schema of a profile's part on deliveries: their signature, and the places of what they tell. */
import { z } from "zod";
import { headers, paths, word } from "./source-values.ts";

export const webhooks = z.strictObject({
  /**
   * Signature scheme of deliveries. `auto`: any of the signed schemes that fits; `header`: an HMAC of the raw body in a header (also
   * GitHub's); `body`: a member of the body; `path`: the secret is part of the address; `none`: unsigned.
   */
  scheme: z.enum(["auto", "standard", "header", "stripe", "body", "path", "none"]),
  /** Headers that may carry the signature. */
  signature: headers,
  /** Paths into the body, if the signature is one of its members. */
  signatureFields: paths,
  signaturePrefix: z.string().max(50),
  /** Headers. */
  deliveryIdHeaders: headers,
  timestampHeaders: headers,
  /** Paths into the body. */
  deliveryId: paths,
  kind: paths,
  /** Headers that name the kind, if the body does not. */
  kindHeaders: headers,
  /** Paths to a state: the kind is then `<word> <state>`, if `kinds` or `decisions` has that. */
  state: paths,
  object: paths,
  /** By the network's word for a kind: other paths to its object. */
  objects: z.record(word, paths),
  occurrence: paths,
  /** Maps the network's word for an event kind to ours (or `x:<name>`). */
  kinds: z.record(word, z.string().regex(/^(?:x:)?[a-z][a-z0-9.-]{0,60}$/, 'one of our event kinds, or "x:<name>"')),
  /** Maps the network's word for its Guardian's decision on a pending action. */
  decisions: z.record(word, z.enum(["approved", "rejected"])),
});
