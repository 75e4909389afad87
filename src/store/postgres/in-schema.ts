/** Statements about the tables of a store. */
import { defined } from "../../core/defined.ts";
import type { PostgresConnection, PostgresRow } from "./open-connection.ts";

/**
 * Sends one statement, in whose text `@` stands for the schema. With a name, which stands for one text, a session has it planned once. Throws
 * as the connection does.
 */
export type Query = (text: string, values?: readonly unknown[], name?: string) => Promise<readonly PostgresRow[]>;

export function inSchema(connection: Pick<PostgresConnection, "query">, schema: string): Query {
  return (text, values = [], name) => connection.query(defined({ text: text.replaceAll("@", schema), values, name }));
}
