/** A server that refuses some statements of a store. */
import type { PostgresServer } from "./postgres.ts";

/** Makes each such statement fail, until the function that it returns is called. */
export async function refuseStatements(
  server: PostgresServer,
  store: string,
  { when, on }: { readonly when: string; readonly on: string },
): Promise<() => Promise<unknown>> {
  const query = (sql: string) => server.run(sql, new URL(store).pathname.slice(1));
  await query("CREATE FUNCTION refused() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''refused''; END'");
  await query(`CREATE TRIGGER refused BEFORE ${when} ON retinue.${on} FOR EACH ROW EXECUTE FUNCTION refused()`);
  return () => query(`DROP TRIGGER refused ON retinue.${on}`);
}
