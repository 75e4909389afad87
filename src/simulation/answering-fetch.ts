/** Stands in for other services in a simulation: answers a definition's requests from a list. */
import { Refused } from "../core/errors.ts";
import type { Json } from "../core/json.ts";

/** One answer: to requests of this method (default: any) for this address, whose end may be `*`. */
export interface ServiceAnswer {
  readonly url: string;
  readonly method?: string | undefined;
  /** Default 200. */
  readonly status?: number | undefined;
  readonly headers?: { readonly [name: string]: string } | undefined;
  readonly json?: Json | undefined;
  readonly text?: string | undefined;
}

/** Answers `act.fetch`: a function, or a list of answers. */
export type FetchAnswers = typeof globalThis.fetch | readonly ServiceAnswer[];

export function fetchOf(answers: FetchAnswers | undefined): typeof globalThis.fetch {
  if (answers === undefined) return noFetch;
  return typeof answers === "function" ? answers : answeringFetch(answers);
}

/** Several answers to one request are given in turn. A request without an answer is refused (`no_fetch`). */
export function answeringFetch(answers: readonly ServiceAnswer[]): typeof globalThis.fetch {
  const turns = new Map<ServiceAnswer, number>();
  return async (input, init) => {
    const { method, url } = new Request(input, init);
    const fitting = answers.filter((answer) => fits(answer, method, url));
    const [first] = fitting;
    if (first === undefined) throw new Refused("no_fetch", `nothing answers ${method} ${url}: add it to the answers of fetch`);
    const turn = turns.get(first) ?? 0;
    turns.set(first, turn + 1);
    const answer = fitting[turn % fitting.length] ?? first;
    const { status = 200, headers = {}, json, text = "" } = answer;
    return json === undefined ? new Response(bodyOf(status, text), { status, headers }) : Response.json(json, { status, headers });
  };
}

/** A definition that calls other services must bring answers. */
export const noFetch: typeof globalThis.fetch = () =>
  Promise.reject(new Refused("no_fetch", "nothing answers act.fetch here: give --fetch <file>, or the option fetch"));

/** Such answers have no body. */
const BODILESS = [204, 205, 304];

function bodyOf(status: number, text: string): string | null {
  return BODILESS.includes(status) ? null : text;
}

function fits({ url: stated, method: only }: ServiceAnswer, method: string, url: string): boolean {
  if (only !== undefined && only.toUpperCase() !== method) return false;
  return stated.endsWith("*") ? url.startsWith(stated.slice(0, -1)) : url === new URL(stated).href;
}
