/** Workflows of Mastra that a schedule starts every minute: how late they begin. Kept in memory, or in a libsql file. */
import { join } from "node:path";
import { Mastra } from "@mastra/core";
import { InMemoryStore } from "@mastra/core/storage";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { LibSQLStore } from "@mastra/libsql";
import { z } from "zod";
import { everyMinute } from "./crowd-of.ts";
import { ready, settings } from "./subject.ts";

const nothing = z.object({});
const storage =
  settings.store === "libsql"
    ? new LibSQLStore({ id: "schedules", url: `file:${join(settings.folder, "mastra.db")}` })
    : new InMemoryStore({ id: "schedules" });
const minute = everyMinute();
const workflows = Object.fromEntries(
  Array.from({ length: settings.count }, (_, i) => {
    const id = `digest${i}`;
    const step = createStep({
      id: "run",
      inputSchema: nothing,
      outputSchema: nothing,
      execute: async () => (minute.fired(id), {}),
    });
    const schedule = { cron: "* * * * *", inputData: {} };
    return [id, createWorkflow({ id, inputSchema: nothing, outputSchema: nothing, schedule }).then(step).commit()];
  }),
);
const mastra = new Mastra({ storage, workflows, logger: false });
await mastra.startWorkers();
minute.begin();
ready({ port: 0, answers: { late: () => minute.late() } });
