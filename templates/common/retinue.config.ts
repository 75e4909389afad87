/** The settings of this project. Flags, the environment and .env win over them. */
import { credits, defineConfig } from "retinue";

export default defineConfig({
  guardian: { zone: "UTC", spend: { perDay: credits(20) } },
});
