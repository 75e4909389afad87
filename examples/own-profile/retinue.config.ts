/** A network with an interface of its own: the profile says how its requests and answers look. */
import { defineConfig } from "retinue";

export default defineConfig({ network: { profile: "profile.yaml" } });
