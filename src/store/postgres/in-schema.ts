/** Statements about the tables of a store. */
import type { PostgresConnection, PostgresRow } from "./open-connection.ts";

/** Sends one statement, in whose text `@` stands for the schema. Throws as the connection does. */
export type Query = (text: string, values?: readonly unknown[]) => Promise<readonly PostgresRow[]>;

export function inSchema(connection: Pick<PostgresConnection, "query">, schema: string): Query {
  return (text, values = []) => connection.query({ text: text.replaceAll("@", schema), values });
}
