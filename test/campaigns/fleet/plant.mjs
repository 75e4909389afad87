/** Writes a planted bug into its file as it is loaded. `RETINUE_PLANTED` is the bug as JSON. */
import { registerHooks } from "node:module";

const { file, from, to } = JSON.parse(process.env["RETINUE_PLANTED"] ?? "{}");

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (file === undefined || !url.endsWith(`/${file}`)) return loaded;
    const text = typeof loaded.source === "string" ? loaded.source : new TextDecoder().decode(loaded.source);
    if (text.split(from).length !== 2) throw new Error(`the place of the bug is not in ${file}`);
    return { ...loaded, source: text.replace(from, () => to) };
  },
});
