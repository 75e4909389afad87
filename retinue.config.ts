/** The settings of this checkout: the defaults, stated once so that there is a place to change them. */
import { defineConfig } from "retinue";

export default defineConfig({
  agents: "agents",
  network: { set: "b" },
  store: "sqlite:.retinue/store.sqlite",
  guardian: { zone: "UTC" },
});
