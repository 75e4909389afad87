/** `retinue store copy`: takes a store from a file to PostgreSQL, or back. */
import { LOCAL_FOLDER_VARIABLE } from "../../config/postgres-address.ts";
import { parseStoreAddress } from "../../config/store-address.ts";
import { Misconfigured } from "../../core/errors.ts";
import { systemRandom } from "../../core/random.ts";
import { addressOf, copyStore, nameOf } from "../../store/copy-store.ts";
import { EXIT, OPTIONS, type Command } from "../command.ts";
import { storeConfig } from "../find-guardian.ts";

export const command: Command = {
  name: "store",
  arguments: "copy <address>",
  describe:
    "Copies the store to another address, while nothing runs: from a file to PostgreSQL, or back. The specialists go on with the copy; the original is halted, so that nobody works on both.",
  options: [OPTIONS.store, OPTIONS.config],
  examples: [
    "retinue store copy postgres://retinue@127.0.0.1/retinue",
    "retinue store copy sqlite:.retinue/store.sqlite --store postgres://retinue@127.0.0.1/retinue",
  ],
  async run(context) {
    const { args, out, cwd, clock } = context;
    const [action, address] = args;
    if (action !== "copy" || address === undefined)
      throw new Misconfigured("command_misused", "store copies to one address", { expected: "retinue store copy <address>" });
    const { store: from, environment } = await storeConfig(context);
    const to = parseStoreAddress(address, cwd, environment.get(LOCAL_FOLDER_VARIABLE));
    const { specialists } = await copyStore({ from, to, clock, random: systemRandom() });
    const message = `${specialists} ${specialists === 1 ? "specialist is" : "specialists are"} in ${nameOf(to)}`;
    out.line(message);
    out.line(`${nameOf(from)} is halted, so that nobody works on both. Name the copy from now on, with RETINUE_STORE or --store.`);
    const password = from.kind === "postgres" && from.password !== undefined ? ", with its password in the address" : "";
    out.line(`To work on the original again, once the copy is deleted${password}:`);
    out.line(`  retinue halt --lift --store '${addressOf(from)}'`);
    out.result({ ok: true, message, specialists, halted: nameOf(from) });
    return EXIT.done;
  },
};
