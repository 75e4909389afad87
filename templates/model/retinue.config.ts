/** The settings of this project. Flags, the environment and .env win over them. */
import { credits, defineConfig, microDollars } from "retinue";

export default defineConfig({
  // Half a US dollar a day for models, whatever they are asked.
  guardian: { zone: "UTC", spend: { perDay: [credits(20), microDollars(500_000)] } },
  models: {
    // A server of this machine. Prices are US dollars for a million tokens; without them a model is refused.
    small: {
      provider: "openai-compatible",
      address: "http://127.0.0.1:11434/v1",
      model: "llama3.2",
      context: 8_192,
      output: 512,
      prices: { input: 0, output: 0 },
    },
  },
});
