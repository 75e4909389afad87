/** Secrets of invented networks. */

/** A secret as the scheme of standard webhooks writes it. */
export function standardSecret(text: string): string {
  return `whsec_${Buffer.from(text).toString("base64")}`;
}
