/** Finds and examines a network's OpenAPI document for the doctor: a file, an address, or one of the usual places. */
import { readFile, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { createTransport } from "../client/transport.ts";
import type { Profile } from "../contract/profile/profile.ts";
import { messageOf, Misconfigured } from "../core/errors.ts";
import type { Finding } from "../doctor/finding.ts";
import { finding } from "../doctor/finding.ts";
import { examineDocument } from "../doctor/openapi/examine-document.ts";
import { fetchDocument, findDocument } from "../doctor/openapi/fetch-document.ts";
import { MAX_DOCUMENT_BYTES, openDocument, tooLarge, type OpenDocument } from "../doctor/openapi/open-document.ts";
import type { Context } from "./command.ts";

export interface OpenApiOptions {
  /** A file or an address; undefined looks at the usual addresses of the network. */
  readonly given: string | undefined;
  readonly baseUrl: string;
  readonly profile: Profile;
}

/** The findings of the document; none if none was given and the network serves none. */
export async function readOpenApi(context: Context, { given, baseUrl, profile }: OpenApiOptions): Promise<readonly Finding[]> {
  const { clock, cwd } = context;
  const found = await openGiven(context, given, baseUrl);
  if (found === undefined) return [];
  const { document, at } = found;
  const shown = at.startsWith(cwd) ? at.slice(cwd.length + 1) : at;
  const findings = await examineDocument({ document, profile, baseUrl, clock });
  return [finding("document", "ok", `OpenAPI ${document.version} at ${shown}`), ...findings];
}

async function openGiven(
  { clock, cwd }: Context,
  given: string | undefined,
  baseUrl: string,
): Promise<{ readonly document: OpenDocument; readonly at: string } | undefined> {
  if (given !== undefined && !/^[a-z][a-z\d+.-]*:\/\//i.test(given)) {
    const file = isAbsolute(given) ? given : join(cwd, given);
    return { document: openDocument(await textOf(file), file), at: file };
  }
  const sockets = createTransport({ clock, maxBodyBytes: MAX_DOCUMENT_BYTES });
  try {
    const options = { baseUrl, transport: sockets.send };
    if (given === undefined) return await findDocument(options);
    return { document: openDocument(await fetchDocument(given, options), given), at: given };
  } finally {
    await sockets.close();
  }
}

async function textOf(file: string): Promise<string> {
  try {
    const { size } = await stat(file);
    if (size > MAX_DOCUMENT_BYTES) throw tooLarge(file);
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Misconfigured) throw error;
    throw new Misconfigured("file_unreadable", `the document cannot be read: ${messageOf(error)}`, { file });
  }
}
