/** The address of a view: its name, its subject and its filters, after the `#`. */

export const VIEWS = ["needs", "specialists", "log", "orders", "why"] as const;
export type ViewName = (typeof VIEWS)[number];

export interface Place {
  readonly view: ViewName;
  /** The handle of one specialist, or the id that is explained. */
  readonly subject?: string;
  /** Filters, and the position in a list. Empty ones are left out of the address. */
  readonly query: { readonly [name: string]: string };
}

const isView = (name: string): name is ViewName => VIEWS.some((view) => view === name);

/** The place of an address; an unknown one is the first view. */
export function placeOf(hash: string): Place {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [view = "", subject = ""] = path.split(/\/(.*)/s);
  if (!isView(view)) return { view: "needs", query: {} };
  const query = Object.fromEntries(new URLSearchParams(search));
  const decoded = decode(subject);
  return decoded === "" ? { view, query } : { view, subject: decoded, query };
}

export function addressOf({ view, subject, query = {} }: Partial<Place> & Pick<Place, "view">): string {
  const search = searchOf(query);
  return `#/${view}${subject === undefined ? "" : `/${encodeURIComponent(subject.toWellFormed())}`}${search}`;
}

/** `?name=value&…` of the values that are not empty; nothing if all are. */
export function searchOf(query: { readonly [name: string]: string | number | undefined }): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined || value === "" ? [] : [[name, String(value)]]));
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
}

/** A person may have cut the address in the middle of an escape. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
