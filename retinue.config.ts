/** The settings of this checkout: the defaults, stated once so that there is a place to change them. */
import { defineConfig } from "retinue";

export default defineConfig({
  agents: "agents",
  network: { set: "b" },
  store: "sqlite:.retinue/store.sqlite",
  guardian: { zone: "UTC" },
  // One specialist asks before it posts, so that the console of `npm start` has something to decide.
  specialists: { digest: { review: ["posts.create"] } },
});
