/** The fingerprint of a tool: all that its server says of it to a model. */
import type { Tool } from "@modelcontextprotocol/client";
import { asJson, sha256 } from "../core/json.ts";

/** Equal for equal descriptions and schemas, in whatever order their members come. */
export function fingerprintOf({ name, title, description, inputSchema, outputSchema, annotations }: Tool): string {
  return `sha256:${sha256(asJson({ name, title, description, inputSchema, outputSchema, annotations }))}`;
}
