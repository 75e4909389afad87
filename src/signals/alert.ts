/** One alert: matters that wait for a person, in the words of "Needs you", for a person and for a program. */
import { STATUS, type Matter } from "./alert-matters.ts";

/** As it is sent: the body of a POST, or the input of a command. */
export interface Alert {
  /** The same at each try, so that a reader can leave out a second copy. */
  readonly id: string;
  /** Ms since the epoch. */
  readonly at: number;
  /** The whole of it for a person. */
  readonly text: string;
  /** Number of matters, of which `matters` has the first. */
  readonly total: number;
  readonly matters: readonly Matter[];
  /** The page on which they are answered. */
  readonly link?: string;
  /** It only tries the target. */
  readonly test?: true;
}

const MAX_LISTED = 20;
const MAX_MESSAGE = 300;

export function alertOf(
  matters: readonly Matter[],
  { id, at, link }: { readonly id: string; readonly at: number; readonly link: string | undefined },
): Alert {
  const listed = matters.slice(0, MAX_LISTED).map((matter) => ({ ...matter, message: plain(matter.message), title: plain(matter.title) }));
  const numberOf = (some: readonly Matter[]): number => some.reduce((sum, { count = 1 }) => sum + count, 0);
  const total = numberOf(matters);
  const more = total - numberOf(listed);
  const lines = [
    `Retinue needs you: ${total} ${total === 1 ? "matter" : "matters"}`,
    ...listed.map(({ title, message, subject }) => `- ${title}: ${message} (retinue ${subject === STATUS ? STATUS : `why ${subject}`})`),
    ...(more > 0 ? [`and ${more} more: retinue status`] : []),
    ...(link === undefined ? [] : [link]),
  ];
  return { id, at, text: lines.join("\n"), total, matters: listed, ...(link === undefined ? {} : { link }) };
}

/** An alert that only tries the targets. */
export function testAlert(id: string, at: number, link: string | undefined): Alert {
  const text = ["Retinue tries its alerts: this is a test, and nothing needs you", ...(link === undefined ? [] : [link])].join("\n");
  return { id, at, text, total: 0, matters: [], ...(link === undefined ? {} : { link }), test: true };
}

/** One line, without what could steer a terminal or turn the text around: it may hold words of others. */
function plain(foreign: string): string {
  const text = foreign.slice(0, 2 * MAX_MESSAGE).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ");
  return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE - 1)}…` : text;
}
