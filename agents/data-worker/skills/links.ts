/** Skill: the links of an HTML page, read by a small scanner and resolved by the URL standard. */
import { mentions, textOf, type LineError, type Skill } from "./skill.ts";

interface Tag {
  readonly name: string;
  readonly line: number;
  readonly closed: boolean;
  readonly href: string | undefined;
}

const WANTED = new Set(["a", "area", "base"]);

/** The tags that matter, in order; comments, scripts and styles are jumped over. */
function scan(html: string): Tag[] {
  const tags: Tag[] = [];
  let line = 1;
  let at = 0;
  const jump = (to: number): void => {
    line += html.slice(at, to).split("\n").length - 1;
    at = to;
  };
  for (;;) {
    const open = html.indexOf("<", at);
    if (open === -1) return tags;
    jump(open);
    if (html.startsWith("<!--", at)) {
      jump(past(html, "-->", at + 4));
      continue;
    }
    const name = /^<([a-z][^\s/>]*)/i.exec(html.slice(at, at + 32))?.[1]?.toLowerCase();
    if (name === undefined) {
      jump(at + 1);
      continue;
    }
    const lineBreak = html.indexOf("\n", at);
    const lineEnd = lineBreak === -1 ? html.length : lineBreak;
    const inside = readAttributes(html.slice(at + 1 + name.length, lineEnd));
    if (WANTED.has(name)) tags.push({ name, line, closed: inside.length !== undefined, href: inside.href });
    jump(inside.length === undefined ? lineEnd : at + 1 + name.length + inside.length);
    if (name === "script" || name === "style") jump(elementEnd(html, name, at));
  }
}

/** The position after the next occurrence, or the end of the text. */
function past(text: string, wanted: string, from: number): number {
  const found = text.indexOf(wanted, from);
  return found === -1 ? text.length : found + wanted.length;
}

/** The position after a script's or style's end tag. Searched in the text itself: in lower case its length can differ. */
function elementEnd(html: string, name: "script" | "style", from: number): number {
  const endTag = name === "script" ? /<\/script\s*>/gi : /<\/style\s*>/gi;
  endTag.lastIndex = from;
  return endTag.test(html) ? endTag.lastIndex : html.length;
}

/** Reads attributes up to `>`. `length` is that of all read with the `>`, or `undefined` when the line ends first. */
function readAttributes(text: string): { length: number | undefined; href: string | undefined } {
  const piece = /\s+|>|"[^"]*"|'[^']*'|[^\s=>"']+|=|["']/y;
  let href: string | undefined;
  let name = "";
  let awaitsValue = false;
  for (;;) {
    const start = piece.lastIndex;
    if (awaitsValue && !/[\s"'>]/.test(text[start] ?? ">")) {
      const value = /^[^\s>]*/.exec(text.slice(start))?.[0] ?? "";
      if (name === "href") href ??= value;
      awaitsValue = false;
      piece.lastIndex = start + value.length;
      continue;
    }
    const part = piece.exec(text)?.[0];
    if (part === undefined || part === '"' || part === "'") return { length: undefined, href };
    if (part === ">") return { length: piece.lastIndex, href };
    if (part === "=") awaitsValue = true;
    else if (awaitsValue && /^["']/.test(part)) {
      if (name === "href") href ??= part.slice(1, -1);
      awaitsValue = false;
    } else if (part.trim() !== "") name = part.toLowerCase();
  }
}

function decode(value: string): string {
  return value.replace(/&(?:(amp)|(quot)|#(\d{1,7}));/g, (all: string, amp?: string, quot?: string, code?: string) => {
    if (amp !== undefined) return "&";
    if (quot !== undefined) return '"';
    return Number(code) <= 0x10ffff ? String.fromCodePoint(Number(code)) : all;
  });
}

export const links: Skill = {
  name: "links",
  fits: (job) => mentions(job.description, "list the links", "input.html", "unclosed_tag", "invalid_url"),
  solve(_, input) {
    const tags = scan(textOf(input, "html"));
    const baseTag = tags.find((tag) => tag.name === "base" && tag.closed && tag.href !== undefined);
    const base = new URL(decode(baseTag?.href ?? ""), textOf(input, "url")).href;
    const counts = new Map<string, number>();
    const errors: LineError[] = [];
    let other = 0;
    for (const { name, line, closed, href } of tags) {
      if (name === "base" || (closed && href === undefined)) continue;
      const value = decode(href ?? "").trim();
      const url = value === "" ? null : URL.parse(value, base);
      if (!closed) errors.push({ line, reason: "unclosed_tag" });
      else if (value === "") errors.push({ line, reason: "empty_href" });
      else if (url === null) errors.push({ line, reason: "invalid_url" });
      else if (url.protocol !== "http:" && url.protocol !== "https:") other++;
      else {
        url.hash = "";
        counts.set(url.href, (counts.get(url.href) ?? 0) + 1);
      }
    }
    return { base, links: [...counts].map(([url, count]) => ({ url, count })), other, errors };
  },
};
