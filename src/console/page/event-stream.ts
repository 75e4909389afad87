/** Reads server-sent events from text as it arrives: EventSource hides comment lines, which show that a silent connection is alive. */

export interface StreamEvent {
  readonly id: string | undefined;
  readonly name: string;
  readonly data: string;
}

/** Characters of an event without an end. */
const MAX_PENDING = 1_000_000;

/** Takes pieces of a stream, and returns the events that each completes (WHATWG HTML, 9.2.6). Throws if an event does not end. */
export function createStreamReader(): (piece: string) => readonly StreamEvent[] {
  let pending = "";
  return (piece) => {
    pending += piece;
    const blocks = pending.split(/\r?\n\r?\n/);
    pending = blocks.pop() ?? "";
    if (pending.length > MAX_PENDING) throw new Error("an event of the server does not end");
    return blocks.flatMap(eventIn);
  };
}

function eventIn(block: string): readonly StreamEvent[] {
  const fields = new Map<string, string>();
  for (const line of block.split(/\r?\n/)) {
    const [, name, value] = /^([^:]+):? ?(.*)$/s.exec(line) ?? [];
    if (name === undefined || value === undefined) continue; // a comment opens with a colon
    const before = fields.get(name);
    fields.set(name, name === "data" && before !== undefined ? `${before}\n${value}` : value);
  }
  const data = fields.get("data");
  return data === undefined ? [] : [{ id: fields.get("id"), name: fields.get("event") ?? "message", data }];
}
