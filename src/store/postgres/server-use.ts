/** The use of a server's store so far, read without opening it: by `run` before it joins, and by `check`. */
import type { PostgresAddress } from "../../config/postgres-address.ts";
import { SECOND } from "../../core/units.ts";
import { EVERYONE, type Stop } from "../../limits/verdict.ts";
import { bindToNetwork, type StoreUse } from "../bind-network.ts";
import { checkServer } from "./check-server.ts";
import { openConnection, type PostgresConnection } from "./open-connection.ts";
import { hasSchema } from "./postgres-schema.ts";

export interface ServerUse {
  readonly network: string | undefined;
  /** Nothing was handled or decided yet. A dry run leaves requests alone. */
  readonly isUnused: boolean;
}

const UNUSED: ServerUse = { network: undefined, isUnused: true };
const NETWORK = "network";
/** A check answers soon where no server does. */
const CONNECT_TIMEOUT_MS = 3 * SECOND;

/** Makes no tables. Throws `Retryable` or `Misconfigured` if the server cannot be used. */
export async function lookAtServer(address: PostgresAddress): Promise<ServerUse> {
  const connect = (): Promise<PostgresConnection> => openConnection({ address, purpose: "check", connectTimeoutMs: CONNECT_TIMEOUT_MS });
  const connection = await connect();
  try {
    await checkServer(connection, address, connect);
    await hasSchema(connection, address); // a start would make it
    const [row] = await connection.query({ text: "SELECT to_regclass($1) IS NOT NULL AS is", values: [`${address.schema}.meta`] });
    return row?.["is"] === true ? await useOf(connection, address.schema) : UNUSED;
  } finally {
    await connection.close();
  }
}

/** The tables are there. */
export async function useOf(connection: PostgresConnection, schema: string): Promise<ServerUse> {
  const [row] = await connection.query({
    text: `SELECT (SELECT value FROM ${schema}.meta WHERE name = $1) AS network,
      NOT EXISTS (SELECT FROM ${schema}.event) AND NOT EXISTS (SELECT FROM ${schema}.run) AND NOT EXISTS (SELECT FROM ${schema}.intent)
      AS unused`,
    values: [NETWORK],
  });
  const network = row?.["network"];
  return { network: typeof network === "string" ? network : undefined, isUnused: row?.["unused"] === true };
}

/** Of processes that begin together on a new store, the first names its network. Throws `Misconfigured` (`store_of_other_network`). */
export async function claimNetwork(connection: PostgresConnection, schema: string, use: StoreUse): Promise<void> {
  await connection.query({
    text: `INSERT INTO ${schema}.meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`,
    values: [NETWORK, use.network],
  });
  await bindToNetwork(
    {
      network: async () => (await useOf(connection, schema)).network,
      belongTo: async (network) =>
        void (await connection.query({ text: `UPDATE ${schema}.meta SET value = $2 WHERE name = $1`, values: [NETWORK, network] })),
    },
    use,
  );
}

/** The halts in force, those of everyone first. */
export async function haltsOf(connection: PostgresConnection, schema: string): Promise<readonly Stop[]> {
  const rows = await connection.query({
    text: `SELECT scope, reason, since FROM ${schema}.stop WHERE kind = 'halt' ORDER BY scope <> $1, scope`,
    values: [EVERYONE],
  });
  return rows.map(({ scope, reason, since }) => ({ scope: String(scope), reason: String(reason), since: Number(since) }));
}
