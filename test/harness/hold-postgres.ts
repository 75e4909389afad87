/** Starts a server, prints its folder and port, and stays until it is killed. */
import { startPostgres } from "./postgres.ts";

const { folder, port } = await startPostgres();
process.stdout.write(`${folder} ${port}\n`);
