/** A model of this machine costs nothing; one of a provider has prices, and its key in a variable. */
import { defineConfig, microDollars } from "retinue";

export default defineConfig({
  guardian: { zone: "UTC", spend: { perDay: microDollars(500_000) } },
  models: {
    small: {
      provider: "openai-compatible",
      address: process.env["MODEL_ADDRESS"] ?? "http://127.0.0.1:11434/v1",
      model: "llama3.2",
      context: 8_192,
      output: 256,
      prices: { input: 0.15, output: 0.6 },
    },
  },
});
