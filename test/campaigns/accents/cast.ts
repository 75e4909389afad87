/** The shipped cast, as `npm start` runs it. */
import curator from "../../../agents/curator.ts";
import dataWorker from "../../../agents/data-worker/index.ts";
import digest from "../../../agents/digest.ts";
import host from "../../../agents/host.ts";
import welcomer from "../../../agents/welcomer/index.ts";

export const CAST = [curator, dataWorker, digest, host, welcomer];
