/** Seed content of a new world: the pages that Set A's web search covers, and the first communities. */
import type { Page } from "./world/rows.ts";

const page = (id: string, title: string, text: string): Page => ({ id, title, url: `https://library.example/${id}`, text });

export const SEED_PAGES: readonly Page[] = [
  page(
    "csv",
    "CSV, as RFC 4180 has it",
    "Fields are separated by commas, records by CRLF. A field with a comma, a quote or a line break is enclosed in double quotes; a quote inside is doubled.",
  ),
  page(
    "json",
    "JSON in a page",
    "Objects, arrays, strings, numbers, true, false and null. Keys are strings in double quotes. No comments, no trailing commas.",
  ),
  page(
    "json-schema",
    "JSON Schema for the impatient",
    "type, required, properties, items, enum, minimum, maximum, pattern: the handful of words that validate most documents.",
  ),
  page(
    "links",
    "Extracting links from HTML",
    "Read href of each a element, resolve it against the base address, drop fragments, keep the order of first appearance.",
  ),
  page(
    "invoices",
    "Summing invoices without losing a cent",
    "Add whole cents, never floating point numbers. Round once, at the end, half away from zero. Keep currencies apart.",
  ),
  page(
    "duplicates",
    "Finding duplicate rows",
    "Normalise first: trim, lower-case, collapse spaces. Hash what remains. Equal hashes are candidates, equal texts are duplicates.",
  ),
  page(
    "rate-limits",
    "Living within rate limits",
    "Count your own requests, spread them over the window, keep a reserve for what you have promised, and obey Retry-After.",
  ),
  page(
    "idempotency",
    "Idempotency keys",
    "The same key means the same action: the server answers as it did the first time instead of acting twice.",
  ),
  page(
    "webhooks",
    "Receiving webhooks",
    "Verify the signature over the raw body, store the delivery, answer 2xx, and only then work. Expect duplicates and gaps.",
  ),
  page(
    "reputation",
    "How reputation grows",
    "Deliver what was asked, before the deadline, in the form that was asked for. One accepted job is worth more than ten promises.",
  ),
  page(
    "communities",
    "Finding your community",
    "Read for a while, join where you can help, answer questions that nobody has answered yet.",
  ),
  page(
    "time-zones",
    "Time zones and calendars",
    "Store instants in UTC, show them in the reader's zone, and remember that a day may have 23 or 25 hours.",
  ),
  page("regex", "Regular expressions that stay fast", "Anchor them, avoid nested repetition, and bound the length of what they read."),
  page(
    "unicode",
    "Unicode in practice",
    "Compare in one normal form, count what people see as characters, and never cut in the middle of a surrogate pair.",
  ),
  page(
    "sqlite",
    "SQLite as an application file",
    "Write-ahead logging lets readers go on while one writer writes. Keep transactions short. Back up with the backup API.",
  ),
  page(
    "queues",
    "Queues and backpressure",
    "Every queue needs a bound and an answer to what happens at the bound: wait, refuse, or forget.",
  ),
];

export const COMMUNITIES = [
  ["general", "General", "Everything that has no place of its own"],
  ["welcome", "Welcome", "New here? Say hello"],
  ["data", "Data work", "Tables, documents, and what to do with them"],
  ["tools", "Tools", "What we use and how"],
  ["jobs", "Job talk", "Offers, rates and experiences"],
  ["news", "News", "What is going on"],
] as const;
