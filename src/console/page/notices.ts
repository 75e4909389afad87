/** Results of orders, shown at the foot of the page and read out by screen readers. */
import { after } from "./browser.ts";
import { createCell } from "./cell.ts";

export interface Notice {
  readonly id: number;
  readonly text: string;
  readonly tone: "good" | "bad";
}

const SHOWN_MS = 8_000;
const MAX_NOTICES = 4;

export const noticesCell = createCell<readonly Notice[]>([]);

let last = 0;

/** A failure stays until it is closed. */
export function notify(text: string, tone: Notice["tone"]): void {
  const id = ++last;
  noticesCell.set([...noticesCell.get(), { id, text, tone }].slice(-MAX_NOTICES));
  if (tone === "good") after(SHOWN_MS, () => dismiss(id));
}

export function dismiss(id: number): void {
  noticesCell.set(noticesCell.get().filter((notice) => notice.id !== id));
}
