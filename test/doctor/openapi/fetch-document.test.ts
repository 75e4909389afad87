/** Fetching an OpenAPI document: bounded, without the key, and nowhere but where a person pointed. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { createTransport, type Transport, type WireAnswer, type WireRequest } from "../../../src/client/transport.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { fetchDocument, findDocument } from "../../../src/doctor/openapi/fetch-document.ts";
import { MAX_DOCUMENT_BYTES } from "../../../src/doctor/openapi/open-document.ts";

const BASE = "https://api.example.com/v1";
const DOCUMENT = '{"openapi":"3.1.0","paths":{}}';

/** A web that answers by address, and keeps what it was asked. */
function web(answers: Readonly<Record<string, Partial<Extract<WireAnswer, { kind: "answer" }>>>>): {
  readonly transport: Transport;
  readonly asked: WireRequest[];
} {
  const asked: WireRequest[] = [];
  const transport: Transport = (request) => {
    asked.push(request);
    const found = answers[request.origin + request.path] ?? { status: 404, text: "<html>" };
    return Promise.resolve({ kind: "answer", status: 200, headers: {}, text: "", elapsedMs: 1, ...found });
  };
  return { transport, asked };
}

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

test("a given address is read without any key", async () => {
  const { transport, asked } = web({ "https://docs.example.org/a/openapi.yaml?v=2": { text: DOCUMENT } });
  expect(await fetchDocument("https://docs.example.org/a/openapi.yaml?v=2", { baseUrl: BASE, transport })).toBe(DOCUMENT);
  expect(Object.keys(asked[0]?.headers ?? {})).toEqual(["accept", "accept-encoding", "user-agent"]);
});

test("a document that moved on its own host is followed, and one that leads to another host is not", async () => {
  const { transport, asked } = web({
    "https://docs.example.org/old": { status: 302, headers: { location: "/new" } },
    "https://docs.example.org/new": { text: DOCUMENT },
    "https://docs.example.org/away": { status: 301, headers: { location: "http://169.254.169.254/latest" } },
    "https://docs.example.org/round": { status: 307, headers: { location: "/round" } },
  });
  expect(await fetchDocument("https://docs.example.org/old", { baseUrl: BASE, transport })).toBe(DOCUMENT);
  await expect(fetchDocument("https://docs.example.org/away", { baseUrl: BASE, transport })).rejects.toMatchObject({
    code: "openapi_address",
    message: expect.stringContaining("169.254.169.254") as string,
  });
  await expect(fetchDocument("https://docs.example.org/round", { baseUrl: BASE, transport })).rejects.toMatchObject({
    code: "openapi_address",
  });
  expect(asked.filter(({ origin }) => origin !== "https://docs.example.org")).toEqual([]);
});

describe("an address that may not be asked is refused before anything is sent", () => {
  test.each([
    ["this machine", "http://127.0.0.1:9000/openapi.json"],
    ["this machine, in another form", "http://2130706433/openapi.json"],
    ["a private network", "https://10.1.2.3/openapi.json"],
    ["the metadata of a cloud", "http://169.254.169.254/openapi.json"],
    ["a name of a private network", "https://wiki.corp/openapi.json"],
    ["a file by its address", "file:///etc/passwd"],
    ["another protocol", "ftp://example.com/openapi.json"],
    ["credentials", "https://me:secret@example.com/openapi.json"],
  ])("%s", async (_, address) => {
    const { transport, asked } = web({});
    await expect(fetchDocument(address, { baseUrl: BASE, transport })).rejects.toMatchObject({ code: "openapi_address" });
    expect(asked).toEqual([]);
  });

  test("a private address is asked where the network itself is private", async () => {
    const { transport } = web({ "http://10.1.2.3/openapi.json": { text: DOCUMENT } });
    expect(await fetchDocument("http://10.1.2.3/openapi.json", { baseUrl: "http://127.0.0.1:8080", transport })).toBe(DOCUMENT);
  });
});

test("an address without a document is told with its status", async () => {
  const { transport } = web({});
  await expect(fetchDocument("https://docs.example.org/none", { baseUrl: BASE, transport })).rejects.toMatchObject({
    code: "openapi_unreachable",
    message: expect.stringContaining("404") as string,
  });
});

test("a document of 50 MB is given up at the bound", async () => {
  let sent = 0;
  const server = createServer((_, response) => {
    const chunk = Buffer.alloc(1_024 * 1_024, 32);
    const write = (): void => {
      while (sent < 50 * chunk.length && !response.destroyed) {
        sent += chunk.length;
        if (!response.write(chunk)) return void response.once("drain", write);
      }
      response.end();
    };
    write();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => new Promise((resolve) => server.close(resolve)));
  const { send, close } = createTransport({ clock: systemClock(), maxBodyBytes: MAX_DOCUMENT_BYTES });
  closers.push(close);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/openapi.json`;
  await expect(fetchDocument(url, { baseUrl: url.replace("/openapi.json", ""), transport: send })).rejects.toMatchObject({
    code: "openapi_too_large",
  });
  expect(sent).toBeLessThan(30 * 1_024 * 1_024);
});

test("the usual addresses are few, of the network alone, and a page for people is no document", async () => {
  const { transport, asked } = web({
    "https://api.example.com/openapi.json": { text: "<!doctype html>" },
    "https://api.example.com/v1/openapi.json": { text: DOCUMENT },
  });
  expect(await findDocument({ baseUrl: BASE, transport })).toMatchObject({ at: "https://api.example.com/v1/openapi.json" });
  expect(await findDocument({ baseUrl: "https://other.example.com", transport })).toBeUndefined();
  expect(asked.length).toBeLessThanOrEqual(16);
  expect(new Set(asked.map(({ origin }) => origin))).toEqual(new Set(["https://api.example.com", "https://other.example.com"]));
});
