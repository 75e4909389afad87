/** `retinue alerts`: lists who is told of what waits for a person, and tries to tell them. */
import { createTransport } from "../../client/transport.ts";
import { alertSecrets } from "../../config/alert-settings.ts";
import type { Config } from "../../config/config.ts";
import { asJson } from "../../core/json.ts";
import { systemRandom } from "../../core/random.ts";
import { Scrubber } from "../../core/scrubber.ts";
import { testAlert } from "../../signals/alert.ts";
import { sendAlert, targetName } from "../../signals/alert-targets.ts";
import { flagOption } from "../args.ts";
import { EXIT, OPTIONS, type Command, type Context } from "../command.ts";
import { say } from "../text.ts";

const ID_LENGTH = 16;

export const command: Command = {
  name: "alerts",
  describe: "Lists the targets of alerts in the config file. With --test it sends each one alert that says it is a test.",
  options: [{ flags: "--test", describe: "send a test to every target; exit code 1 if one did not take it" }, OPTIONS.config],
  examples: ["retinue alerts", "retinue alerts --test"],
  async run(context) {
    const { out, options } = context;
    const config = await context.loadConfig();
    const targets = (config.alerts?.to ?? []).map((target) => ({ target, name: targetName(target) }));
    if (targets.length === 0) out.line('Nobody is told: the config file has no alerts, such as alerts: { to: [{ urlFrom: "ALERT_URL" }] }');
    if (!flagOption(options, "test")) {
      for (const { name } of targets) out.line(name);
      out.result({ ok: true, targets: targets.map(({ name }) => name) });
      return EXIT.done;
    }
    const results = await tryAll(context, config);
    for (const { name, failure } of results)
      out.line(failure === undefined ? say`${out.paint.green("took it")}  ${name}` : say`${out.paint.red("failed")}   ${name}: ${failure}`);
    const ok = results.length > 0 && results.every(({ failure }) => failure === undefined);
    out.result({ ok, targets: results });
    return ok ? EXIT.done : EXIT.failed;
  },
};

async function tryAll({ clock }: Context, config: Config): Promise<readonly { readonly name: string; readonly failure?: string }[]> {
  const { alerts, environment, cwd } = config;
  const scrubber = new Scrubber();
  for (const secret of alertSecrets(environment, alerts)) scrubber.add(secret);
  const transport = createTransport({ clock });
  const sender = { clock, environment, cwd, scrubber, send: transport.send, signal: new AbortController().signal };
  const alert = asJson(testAlert(systemRandom().word(ID_LENGTH), clock.now(), alerts?.link));
  try {
    return await Promise.all(
      (alerts?.to ?? []).map(async (target) => {
        const failure = await sendAlert(sender, target, alert);
        return { name: targetName(target), ...(failure === undefined ? {} : { failure }) };
      }),
    );
  } finally {
    await transport.close();
  }
}
