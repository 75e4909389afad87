/** Task: list the links of an HTML page, resolved as a browser would, with broken tags reported. */
import type { Random } from "../../../core/random.ts";
import { between, bullets, chance, EXACTLY, type Kind, type LineError, paragraphs } from "./job-draft.ts";
import { COMPANIES, PRODUCTS, WORDS } from "./vocabulary.ts";

const description = paragraphs(
  "List the links of the HTML page in `input.html`, which was fetched from the address `input.url`.",
  "What counts. A link is the `href` of an `<a>` or `<area>` start tag: `<`, at once the tag's name, then attributes, then `>`. Names of tags and attributes " +
    "may be in any letter case. Values stand in double quotes, in single quotes, or unquoted up to the next white space or `>`; white space around `=` is allowed; " +
    "a `>` inside a quoted value does not end the tag; of two `href` in one tag the first counts. A tag without `href` is no link. " +
    "Nothing inside comments (`<!-- … -->`), `<script>` and `<style>` elements counts; these may span lines, whole tags never do. " +
    'In a value `&amp;` stands for `&`, `&quot;` for `"` and `&#38;` (any decimal number) for the character of that number; nothing else is decoded.',
  "Resolving. The base address is the `href` of the page's first `<base>` tag, itself resolved against `input.url`; without one it is `input.url`. It holds for the " +
    "whole page. Resolve and write each address as the WHATWG URL Standard does (scheme and host in lower case, default port dropped, dot segments removed, spaces " +
    "and letters outside ASCII percent-encoded, `/` for an empty path), then cut off its fragment, that is `#` and what follows. Only `http:` and `https:` addresses are listed; " +
    "links of other schemes (`mailto:`, `javascript:`…) are only counted, in `other`.",
  bullets("A link tag that shows one of these gives no link but an error:", [
    "`unclosed_tag`: its line ends before the tag's `>`. Go on with the next line.",
    "`empty_href`: the value is empty or only white space.",
    "`invalid_url`: the value cannot be resolved under the URL Standard.",
  ]),
  "`line` is the 1-based number of the line on which the tag begins. Lines end with LF.",
  'Deliver {"base": "https://…", "links": [{"url": "https://…", "count": 2}], "other": 3, "errors": [{"line": 12, "reason": "empty_href"}]}: each address once, ' +
    "in order of first appearance, with the number of times it was linked; errors in order of appearance. " +
    EXACTLY,
);

/** An absolute address in parts; `directory` begins and ends with `/`. */
interface Place {
  readonly origin: string;
  readonly directory: string;
  readonly file: string;
}

interface Spelling {
  /** As written in the page, before character references. */
  readonly href: string;
  readonly url: string;
}

const HOSTS = ["www.example.com", "docs.example.org", "shop.example.net", "news.example.com", "archive.example.org"] as const;

function name(random: Random): string {
  return `${random.pick(PRODUCTS)}-${random.word(4)}`;
}

function placeOf(place: Place): string {
  return place.origin + place.directory + place.file;
}

/** One spelling of an address relative to `base`, and the address it means. */
function spell(random: Random, base: Place): Spelling {
  const page = `${name(random)}.html`;
  const host = random.pick(HOSTS);
  const parent = base.directory.replace(/[^/]+\/$/, "");
  const sibling = base.origin + base.directory;
  const forms: readonly (() => Spelling)[] = [
    () => ({ href: `https://${host}/${page}`, url: `https://${host}/${page}` }),
    () => ({ href: `HTTPS://${host.toUpperCase()}:443/${page}`, url: `https://${host}/${page}` }),
    () => ({ href: `http://${host}`, url: `http://${host}/` }),
    () => ({ href: `http://${host}:8080/a/../${page}`, url: `http://${host}:8080/${page}` }),
    () => ({ href: `//${host}/${page}`, url: `https://${host}/${page}` }),
    () => ({ href: `/top/${page}`, url: `${base.origin}/top/${page}` }),
    () => ({ href: page, url: sibling + page }),
    () => ({ href: `./${page}`, url: sibling + page }),
    () => ({ href: `../${page}`, url: base.origin + parent + page }),
    () => ({ href: `sub/./${page}?b=2&a=1`, url: `${sibling}sub/${page}?b=2&a=1` }),
    () => ({ href: `?page=${page}`, url: `${placeOf(base)}?page=${page}` }),
    () => ({ href: `two words/${page}`, url: `${sibling}two%20words/${page}` }),
    () => ({ href: `café/${page}`, url: `${sibling}caf%C3%A9/${page}` }),
    () => ({ href: `#${page}`, url: placeOf(base) }),
  ];
  const spelling = random.pick(forms)();
  return spelling.href.includes("#") || !chance(random, 0.15)
    ? spelling
    : { ...spelling, href: `${spelling.href}#part-${between(random, 1, 9)}` };
}

/** A whole link tag around a value, in one of the allowed ways of writing. */
function tag(random: Random, value: string): string {
  const written = value.replaceAll("&", random.pick(["&amp;", "&#38;"]));
  const plain = /^[^\s"'>=<`]+$/.test(written);
  const href = random.pick(["href", "href", "HREF", "Href"]);
  const quoted = plain && chance(random, 0.2) ? written : random.pick([`"${written}"`, `'${written}'`, `"  ${written} "`]);
  const before = random.pick(["", "", ' class="link"', ' data-href="not-this.html"', " title='a > b, href=no.html'"]);
  const after = random.pick(["", "", ' target="_blank"', ' href="second.html"', " download"]);
  const equals = chance(random, 0.1) ? " = " : "=";
  return `<${random.pick(["a", "a", "a", "A", "area"])}${before} ${href}${equals}${quoted}${after}>`;
}

const DECOYS = [
  '<link rel="stylesheet" href="style.css"> <img src="photo.png" alt="a photo">',
  '<a name="here">no link</a> <abbr href="never.html">abbr</abbr>',
  '<!-- <a href="commented.html">old</a> -->',
  '<!-- a comment over\nlines with <a href="commented-too.html">a link</a>\nin it -->',
  "<script>\nconst html = '<a href=\"scripted.html\">x</a>';\nif (1 < 2) go();\n</script>",
  "<style>a[href='styled.html'] { color: red }</style>",
  '<p>if a < b then write href="text.html" & go on</p>',
] as const;

const OTHERS = ["mailto:office@example.com", "javascript:void(0)", "tel:+4930123456", "data:text/plain,hello"] as const;
const INVALID = ["http://", "https://exa mple.com/x", "http://[::1/", "https://www.example.com:99999/"] as const;

/** The page while it is written: the answer grows with it. */
interface Sheet {
  readonly lines: string[];
  readonly counts: Map<string, number>;
  readonly seen: Spelling[];
  readonly errors: LineError[];
  other: number;
}

function prose(random: Random): string {
  return Array.from({ length: between(random, 2, 9) }, () => random.pick(WORDS)).join(" ");
}

/** Writes one line (or one decoy of several lines) and records what it holds. */
function writeLine(random: Random, sheet: Sheet, base: Place): void {
  const line = sheet.lines.length + 1;
  const dice = random.next();
  const fail = (reason: string, text: string): void => {
    sheet.errors.push({ line, reason });
    sheet.lines.push(text);
  };
  if (dice < 0.12) sheet.lines.push(...random.pick(DECOYS).split("\n"));
  else if (dice < 0.15)
    fail(
      "unclosed_tag",
      `<p>${prose(random)} ${random.pick(['<a href="lost.html', '<a href="lost.html>lost</a>', "<a href=lost.html", "<A"])}`,
    );
  else if (dice < 0.17) fail("empty_href", `<p>${random.pick(['<a href="">', "<a href=' '>", '<area HREF="">'])}${prose(random)}</a></p>`);
  else if (dice < 0.2) fail("invalid_url", `<p><a href="${random.pick(INVALID)}">${prose(random)}</a></p>`);
  else if (dice < 0.24) {
    sheet.other++;
    sheet.lines.push(`<li>${tag(random, random.pick(OTHERS))}${prose(random)}</a></li>`);
  } else {
    let text = `<p>${prose(random)}`;
    for (let links = between(random, 0, 3); links > 0; links--) {
      const again = sheet.seen.length > 0 && chance(random, 0.2);
      const spelling = again ? random.pick(sheet.seen) : spell(random, base);
      if (!again) sheet.seen.push(spelling);
      sheet.counts.set(spelling.url, (sheet.counts.get(spelling.url) ?? 0) + 1);
      text += ` ${tag(random, spelling.href)}${prose(random)}</a>`;
    }
    sheet.lines.push(`${text}</p>`);
  }
}

export const htmlLinks: Kind = {
  name: "html-links",
  draft(random) {
    const page: Place = { origin: `https://${random.pick(HOSTS)}`, directory: `/${random.word(4)}/${random.word(5)}/`, file: "index.html" };
    const moved: Place = { origin: "https://static.example.org", directory: `/${random.word(6)}/v2/`, file: "" };
    const rooted: Place = { origin: page.origin, directory: `/${random.word(6)}/old/`, file: "start.html" };
    const base = random.pick([page, moved, rooted]);
    const baseTag = base === page ? "" : `<base href="${base === moved ? placeOf(moved) : rooted.directory + rooted.file}">`;
    const sheet: Sheet = {
      lines: [
        "<!doctype html>",
        "<html><head>",
        "<title>Links</title>",
        '<!-- <base href="https://decoy.example/"> -->',
        baseTag,
        "</head><body>",
      ],
      counts: new Map(),
      seen: [],
      errors: [],
      other: 0,
    };
    const wanted = between(random, 120, 400);
    while (sheet.lines.length < wanted) writeLine(random, sheet, base);
    sheet.lines.push("</body></html>");
    return {
      title: `Extract the links of a page of ${random.pick(COMPANIES)}`,
      description,
      skills: ["html", "links"],
      input: { url: placeOf(page), html: sheet.lines.join("\n") },
      answer: {
        base: placeOf(base),
        links: [...sheet.counts].map(([url, count]) => ({ url, count })),
        other: sheet.other,
        errors: sheet.errors,
      },
      reward: 6 + Math.ceil(wanted / 50),
    };
  },
};
