/** The `console` of the config file: its port, how people reach it, who they are, and the mistakes that would expose it. */
import { isAbsolute, join } from "node:path";
import { z } from "zod";
import { defined } from "../core/defined.ts";
import type { Secret } from "../core/secret.ts";
import { isLoopback } from "./loopback.ts";
import { mistake, warning, type Problem } from "./problem.ts";
import { anyVariableName, expected, port, text } from "./value-schemas.ts";

/** `view` reads everything; `act` also gives orders. */
const CONSOLE_ROLES = ["view", "act"] as const;
/** The rights of a person at the console. */
export type ConsoleRole = (typeof CONSOLE_ROLES)[number];

/** The console in the config file. */
export interface ConsoleConfig {
  /** 0 takes any free port. Default: no console. */
  readonly port?: number;
  /** Default `127.0.0.1`. Another than this machine's needs `tls`, or an https `url`. */
  readonly host?: string;
  /** The address at which people open it, if that is a name or a proxy that encrypts: `https://console.example.com`. */
  readonly url?: string;
  /** Files of a certificate with its chain, and of its key. They are read when the console opens. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** People by name. `token` names the environment variable that holds the person's token. */
  readonly people?: { readonly [name: string]: { readonly role: ConsoleRole; readonly token: string } };
}

/** A person who may log in, and the token, read again on each use. */
export interface ConsolePerson {
  readonly who: string;
  readonly role: ConsoleRole;
  readonly readToken: () => Secret | undefined;
}

export interface ConsoleSettings {
  readonly port: number | undefined;
  readonly host: string;
  readonly url: URL | undefined;
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** The Guardian first, then those of the config file. */
  readonly people: readonly ConsolePerson[];
  /** The token to log in with, as a person is told of it: the variable, or in a demo the token itself. */
  readonly login: string;
}

/** The console of a process that lasts as long as somebody watches it: any free port, and a token of its own. */
export function passingConsole(token: Secret): ConsoleSettings {
  const guardian = { who: GUARDIAN_NAME, role: "act", readToken: () => token } as const;
  return { port: 0, host: DEFAULT_HOST, url: undefined, tls: undefined, people: [guardian], login: `the token ${token.reveal()}` };
}

/** The person who holds `RETINUE_CONSOLE_TOKEN`. */
export const GUARDIAN_NAME = "guardian";
const GUARDIAN_TOKEN = "RETINUE_CONSOLE_TOKEN";
const DEFAULT_HOST = "127.0.0.1";

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}$/;
const personName = z.string().refine((name) => NAME.test(name) && name !== GUARDIAN_NAME);
const NAMES = `people by names of letters, digits, ., _, @ and -; "${GUARDIAN_NAME}" is whoever holds ${GUARDIAN_TOKEN}`;
const person = z.strictObject(
  { role: z.enum(CONSOLE_ROLES, expected('"view" or "act"')), token: anyVariableName },
  expected('{role: "view" or "act", token: "NAME"}, where NAME is a variable'),
);

export const consoleSchema = z.strictObject({
  port: port.optional(),
  host: text.optional(),
  url: text.optional(),
  tls: z.strictObject({ cert: text.min(1), key: text.min(1) }, expected("{cert, key}: two files")).optional(),
  people: z.record(personName, person, expected(NAMES)).optional(),
});

export interface ConsoleSources {
  readonly values: z.output<typeof consoleSchema> | undefined;
  /** From the environment; wins over the file's. */
  readonly port: number | undefined;
  readonly file: string | undefined;
  readonly cwd: string;
  readonly readSecret: (variable: string) => Secret | undefined;
}

/** The settings, and the mistakes that no schema finds. */
export function readConsole(sources: ConsoleSources): { readonly settings: ConsoleSettings; readonly problems: readonly Problem[] } {
  const { values = {}, file, cwd, readSecret } = sources;
  const { host = DEFAULT_HOST, tls } = values;
  const port = sources.port ?? values.port;
  const url = values.url === undefined ? undefined : (URL.parse(values.url) ?? undefined);
  const inFolder = (path: string): string => (isAbsolute(path) ? path : join(cwd, path));
  const named = Object.entries(values.people ?? {});
  const problems: Problem[] = [];
  const at = defined({ file });
  if (values.url !== undefined && !/^https?:$/.test(url?.protocol ?? ""))
    problems.push(
      mistake("console_url_invalid", "console.url is not an http(s) address", { ...at, expected: "https://console.example.com" }),
    );
  if (port !== undefined && !isLoopback(host) && tls === undefined && url?.protocol !== "https:")
    problems.push(
      mistake("console_exposed", `the console would listen on ${host} without encryption`, {
        ...at,
        expected: "console.tls with the files {cert, key}, or console.url: the https address of a proxy in front of it",
        hint: `or leave out console.host: it then listens on ${DEFAULT_HOST}, for this machine alone`,
      }),
    );
  if (port !== undefined) problems.push(...problemsOfTokens(named, readSecret, file));
  return {
    settings: {
      port,
      host,
      url,
      tls: tls && { cert: inFolder(tls.cert), key: inFolder(tls.key) },
      people: [
        { who: GUARDIAN_NAME, role: "act", readToken: () => readSecret(GUARDIAN_TOKEN) },
        ...named.map(([who, { role, token }]) => ({ who, role, readToken: () => readSecret(token) })),
      ],
      login: GUARDIAN_TOKEN,
    },
    problems,
  };
}

/** A token says who gives an order, so each person has one of their own. */
function problemsOfTokens(
  named: readonly (readonly [string, { readonly token: string }])[],
  readSecret: ConsoleSources["readSecret"],
  file: string | undefined,
): readonly Problem[] {
  const owners = new Map<string, string>();
  const guardian = readSecret(GUARDIAN_TOKEN)?.reveal();
  if (guardian !== undefined) owners.set(guardian, GUARDIAN_NAME);
  return named.flatMap(([who, { token }]): readonly Problem[] => {
    const secret = readSecret(token)?.reveal();
    const at = defined({ file, hint: `set ${token}, for example to the output of: openssl rand -hex 24` });
    if (secret === undefined) return [warning("console_token_missing", `console.people: "${who}" names ${token}, which has no value`, at)];
    const owner = owners.get(secret);
    owners.set(secret, who);
    return owner === undefined
      ? []
      : [
          mistake(
            "console_token_shared",
            `console.people: "${who}" has the same token as "${owner}": nobody could say who gave an order`,
            at,
          ),
        ];
  });
}
