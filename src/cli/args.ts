/** Reads the values of options: strictly, and with an error that names the option. */
import { defined } from "../core/defined.ts";
import { Misconfigured } from "../core/errors.ts";
import { durationMs } from "../core/units.ts";
import { parseWhole } from "../config/environment.ts";
import type { GivenOptions } from "./command.ts";

/** The text of `--name <value>`, or undefined. */
export function textOption(options: GivenOptions, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

export function flagOption(options: GivenOptions, name: string): boolean {
  return options[name] === true;
}

/** Milliseconds of `--for 60s`, or undefined. Throws `Misconfigured` (`option_invalid`). */
export function durationOption(options: GivenOptions, name: string): number | undefined {
  const text = textOption(options, name);
  if (text === undefined) return undefined;
  try {
    return durationMs(text);
  } catch (error) {
    throw new Misconfigured("option_invalid", `${optionName(name)}: ${JSON.stringify(text)} is no duration`, {
      expected: "a duration such as 90s, 15m or 1h30m",
      cause: error,
    });
  }
}

/** A whole number within bounds, or undefined. Throws `Misconfigured` (`option_invalid`). */
export function wholeOption(
  options: GivenOptions,
  name: string,
  bounds: { readonly min: number; readonly max: number },
): number | undefined {
  const text = textOption(options, name);
  if (text === undefined) return undefined;
  const value = parseWhole(text, bounds.min, bounds.max);
  if (value === undefined)
    throw new Misconfigured("option_invalid", `${optionName(name)}: ${JSON.stringify(text)} is not usable`, {
      expected: `a whole number from ${bounds.min} to ${bounds.max}`,
    });
  return value;
}

/** One of a few words, or undefined. Throws `Misconfigured` (`option_invalid`). */
export function choiceOption<Choice extends string>(options: GivenOptions, name: string, choices: readonly Choice[]): Choice | undefined {
  const text = textOption(options, name);
  if (text === undefined) return undefined;
  const choice = choices.find((one) => one === text.toLowerCase());
  if (choice === undefined)
    throw new Misconfigured(
      name === "set" ? "set_unknown" : "option_invalid",
      `${optionName(name)}: there is no ${name} ${JSON.stringify(text)}`,
      {
        expected: choices.join(" or "),
      },
    );
  return choice;
}

/** `baseUrl` is `--base-url`. */
export function optionName(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

const DEFAULT_LINES = 50;
const MAX_LINES = 1_000;

/** Options of commands that list what is kept, a page at a time. */
export const PAGE_OPTIONS = [
  { flags: "--lines <number>", describe: `how many (default: ${DEFAULT_LINES})` },
  { flags: "--before <number>", describe: "older ones, as the end of the last page says" },
] as const;

/** Which page of what is asked for, by --as, --kind, --lines and --before. Throws `Misconfigured` (`option_invalid`). */
export function pageQuery(options: GivenOptions): {
  readonly handle?: string;
  readonly kind?: string;
  readonly before?: number;
  readonly limit: number;
} {
  const handle = textOption(options, "as");
  const kind = textOption(options, "kind");
  const before = wholeOption(options, "before", { min: 1, max: Number.MAX_SAFE_INTEGER });
  return defined({ limit: wholeOption(options, "lines", { min: 1, max: MAX_LINES }) ?? DEFAULT_LINES, handle, kind, before });
}
