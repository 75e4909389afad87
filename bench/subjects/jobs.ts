/** A specialist that does every job, or a loop that asks once when it matters, on a strict network and virtual time. */
import { doJobs, loopJobs, type DoingJobs } from "../../test/harness/job-doer.ts";
import { MINUTE } from "../../src/core/units.ts";
import { ready, settings } from "./subject.ts";

const world = settings["world"] as Omit<DoingJobs, "givesMs">;
/** Given at once, or within two to four minutes. */
const givesMs: DoingJobs["givesMs"] = settings["slow"] === true ? (chance) => 2 * MINUTE * (1 + chance.next()) : () => 500;

ready({ port: 0, answers: { live: () => (settings["loop"] === true ? loopJobs : doJobs)({ ...world, givesMs }) } });
