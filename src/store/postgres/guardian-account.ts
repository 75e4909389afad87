/** The Guardian's account on a server: the sum of what each holder has added to it. */
import type { PostgresAddress } from "../../config/postgres-address.ts";
import type { Row } from "../sqlite/columns.ts";
import { openConnection } from "./open-connection.ts";
import { NO_SHARD } from "./row-places.ts";

/** As rows of a store that one process has alone. Throws `Retryable` or `Misconfigured` if the server cannot be used. */
export async function guardianAccount(address: PostgresAddress): Promise<readonly Row[]> {
  const connection = await openConnection({ address, purpose: "check" });
  try {
    const rows = await connection.query({
      text: `SELECT scope, currency, span, start, max(until) AS until, max(ends) AS ends, sum(held) AS held, sum(posted) AS posted
        FROM ${address.schema}.spend_row WHERE shard = ${NO_SHARD} GROUP BY scope, currency, span, start`,
    });
    return rows as readonly Row[];
  } finally {
    await connection.close();
  }
}
