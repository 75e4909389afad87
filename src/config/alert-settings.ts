/** The `alerts` of the config file: who is told of what waits for a person, and where its page is. Secrets are named, never written. */
import { z } from "zod";
import { defined } from "../core/defined.ts";
import { isScrubbable } from "../core/scrubber.ts";
import { Secret } from "../core/secret.ts";
import type { Environment } from "./environment.ts";
import { secretsOf } from "./key-sources.ts";
import { mistake, warning, type Problem } from "./problem.ts";
import { expected, text, variableName } from "./value-schemas.ts";

/** One target of alerts: a command that gets an alert as JSON on stdin, or an address that gets it by POST. */
export type AlertTarget =
  | {
      /** The program and its arguments. No shell reads it. */
      readonly command: readonly string[];
      /** Names of variables that the program gets beside `PATH`, `HOME` and their like. Their values count as secrets. */
      readonly env?: readonly string[] | undefined;
    }
  | {
      readonly url: string;
      /** The name of the variable that holds its bearer token. */
      readonly token?: string | undefined;
    }
  | {
      /** The name of the variable that holds the address, if the address itself is a secret. */
      readonly urlFrom: string;
      readonly token?: string | undefined;
    };

/** The settings of alerts. */
export interface AlertSettings {
  /** At most 10. */
  readonly to: readonly AlertTarget[];
  /** The address of the console as its readers reach it. Default: its own, while it is open. */
  readonly link?: string | undefined;
}

const MAX_TARGETS = 10;
const MAX_VARIABLES = 50;
const address = z.url({ protocol: /^https?$/, ...expected("an http(s) address") }).max(2_000);
const MAX_WORDS = 100;
const PROGRAM = 'the program and its arguments, such as ["/usr/local/bin/page-me", "--team", "bots"]';
const command = z
  .array(text, expected(PROGRAM))
  .max(MAX_WORDS)
  .refine(([program = ""]) => program !== "", expected(PROGRAM));

const target = z.union(
  [
    z.strictObject({ command, env: z.array(variableName).max(MAX_VARIABLES).optional() }),
    z.strictObject({ url: address, token: variableName.optional() }),
    z.strictObject({ urlFrom: variableName, token: variableName.optional() }),
  ],
  expected('{command: ["program", "argument"], env: ["NAME"]}, {url, token: "NAME"} or {urlFrom: "NAME"}, where NAME is a variable'),
);

export const alerts = z.strictObject(
  {
    to: z.array(target, expected("a list of targets")).max(MAX_TARGETS, expected(`at most ${MAX_TARGETS} targets`)),
    link: address.optional(),
  },
  expected("{to: [targets], link}"),
);

/** The variables that targets name. */
function variablesOf({ to }: AlertSettings): readonly string[] {
  return to.flatMap((one) => ("command" in one ? (one.env ?? []) : ["urlFrom" in one ? one.urlFrom : [], one.token ?? []].flat()));
}

/** Parts of an address this long are what lets a sender in: services give everybody the same host. */
const SECRET_PART_LENGTH = 12;

/** The values of the variables that targets name, and the parts of addresses among them. */
export function alertSecrets(environment: Environment, settings: AlertSettings | undefined): readonly Secret[] {
  if (settings === undefined) return [];
  const values = secretsOf(variablesOf(settings), (name) => environment.get(name));
  return [...values, ...values.flatMap((value) => partsOf(value.reveal()))];
}

function partsOf(address: string): readonly Secret[] {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) return [];
  const parts = [...url.pathname.split("/"), ...url.searchParams.values(), url.password];
  return parts.filter((part) => part.length >= SECRET_PART_LENGTH).map((part) => new Secret(part));
}

/** Finds an address that holds a password, and a named variable without a value, or with one that no scrubber takes out. */
export function checkAlerts(environment: Environment, settings: AlertSettings | undefined, file: string | undefined): Problem[] {
  if (settings === undefined) return [];
  const at = defined({ file });
  const addresses = [...settings.to.flatMap((one) => ("url" in one ? one.url : [])), settings.link ?? []].flat();
  // The message does not show the address.
  const open = addresses
    .filter((url) => URL.parse(url)?.password !== "")
    .map(() =>
      mistake("config_invalid", "alerts: an address holds a password", {
        ...at,
        expected: 'urlFrom: "NAME", where NAME is the variable that holds the address',
        hint: "move the address into a variable, such as ALERT_URL in .env",
      }),
    );
  const named = variablesOf(settings).flatMap((name) => {
    const value = environment.get(name);
    if (value === undefined)
      return warning("secret_missing", `alerts: ${name} has no value`, {
        ...at,
        expected: `a value of ${name} in the environment or in .env`,
        hint: `set ${name}, or remove it from alerts; retinue alerts --test tries every target`,
      });
    return isScrubbable(value)
      ? []
      : warning("secret_short", `alerts: the value of ${name} is too short to be kept out of what is shown`, at);
  });
  return [...open, ...named];
}
