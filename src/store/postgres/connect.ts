import pg from "pg";
export type PostgresRow = Readonly<Record<string, unknown>>;
export interface PostgresConnection {
  query(statement: { readonly text: string; readonly values?: readonly unknown[]; readonly name?: string }): Promise<readonly PostgresRow[]>;
  onLost(listener: (error: Error) => void): void;
  readonly statements: number;
  close(): Promise<void>;
}
pg.types.setTypeParser(20, Number);
export async function openRaw(url: string): Promise<PostgresConnection> {
  const client = new pg.Client({ connectionString: url });
  const listeners: ((error: Error) => void)[] = [];
  client.on("error", (e) => listeners.forEach((l) => l(e)));
  client.on("end", () => listeners.forEach((l) => l(new Error("ended"))));
  await client.connect();
  let statements = 0;
  return { async query(s) { statements++; return (await client.query(s as pg.QueryConfig)).rows as PostgresRow[]; }, onLost: (l) => void listeners.push(l), get statements() { return statements; }, close: () => client.end() };
}
