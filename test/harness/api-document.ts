/** Small OpenAPI documents, opened, and the operations that are known in them. */
import { isObject, type Json, type JsonObject } from "../../src/core/json.ts";
import { apiOperations } from "../../src/doctor/openapi/api-operations.ts";
import { matchOperations, type Match } from "../../src/doctor/openapi/match-operations.ts";
import { openDocument, type OpenDocument } from "../../src/doctor/openapi/open-document.ts";

export const TEXT = { type: "string" };

/** A document of these paths. */
export function apiDocument(paths: JsonObject, root: JsonObject = {}): OpenDocument {
  return openDocument(JSON.stringify({ openapi: "3.1.0", paths, ...root }), "openapi.json");
}

/** A body or an answer in JSON. */
export function inJson(schema: Json): JsonObject {
  return { description: "", content: { "application/json": { schema } } };
}

/** The schema of an object with these members. */
export function objectOf(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", properties, required };
}

/** The operations of a document that are known by their words. */
export function matchesIn(document: OpenDocument): readonly Match[] {
  return matchOperations(apiOperations(document), () => undefined).found;
}

/** What proposals state, by their paths. */
export function stated(proposals: readonly { readonly path: readonly string[]; readonly value: Json }[]): JsonObject {
  return Object.fromEntries(proposals.map(({ path, value }) => [path.join("."), isObject(value) ? { ...value } : value]));
}
