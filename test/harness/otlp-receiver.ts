/** A collector of OpenTelemetry: takes spans as OTLP over HTTP in JSON, and keeps them. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished } from "vitest";
import { isObject, parseJson, textIn, type Json, type JsonObject } from "../../src/core/json.ts";

export interface SpanRead {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string | undefined;
  /** In ms since the epoch. */
  readonly from: number;
  readonly to: number;
  readonly attributes: { readonly [name: string]: Json | undefined };
  readonly status: Json | undefined;
}

export interface OtlpReceiver {
  readonly spans: SpanRead[];
  /** Every body as it came. */
  readonly bodies: string[];
  /** The variables by which an SDK of a process sends here, from `--import` on. */
  readonly env: { readonly [name: string]: string };
  /** Resolves once a span of that name has come. */
  named(name: string, count?: number): Promise<readonly SpanRead[]>;
}

const SETUP = pathToFileURL(join(import.meta.dirname, "open-telemetry.mjs")).href;
const listIn = (value: Json | undefined, name: string): readonly JsonObject[] => {
  const list = isObject(value) ? value[name] : undefined;
  return Array.isArray(list) ? list.filter(isObject) : [];
};
const msOf = (span: JsonObject, name: string): number => Number(BigInt(textIn(span, name) ?? "") / 1_000_000n);

function spanOf(span: JsonObject): SpanRead {
  const attributes = listIn(span, "attributes").map((one) => [
    textIn(one, "key"),
    isObject(one["value"]) ? Object.values(one["value"])[0] : undefined,
  ]);
  return {
    name: textIn(span, "name") ?? "",
    traceId: textIn(span, "traceId") ?? "",
    spanId: textIn(span, "spanId") ?? "",
    parent: textIn(span, "parentSpanId"),
    from: msOf(span, "startTimeUnixNano"),
    to: msOf(span, "endTimeUnixNano"),
    attributes: Object.fromEntries(attributes),
    status: span["status"],
  };
}

export async function otlpReceiver(): Promise<OtlpReceiver> {
  const spans: SpanRead[] = [];
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => void (body += text));
    request.on("end", () => {
      bodies.push(body);
      const sent = parseJson(body);
      for (const resource of listIn(sent, "resourceSpans"))
        for (const scope of listIn(resource, "scopeSpans")) spans.push(...listIn(scope, "spans").map(spanOf));
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    spans,
    bodies,
    env: {
      NODE_OPTIONS: `--import ${SETUP}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_TRACES_EXPORTER: "otlp",
      OTEL_METRICS_EXPORTER: "none",
      OTEL_LOGS_EXPORTER: "none",
      OTEL_BSP_SCHEDULE_DELAY: "100",
      OTEL_SERVICE_NAME: "bots",
    },
    async named(name, count = 1) {
      const found = (): readonly SpanRead[] => spans.filter((span) => span.name === name);
      await expect.poll(() => found().length).toBeGreaterThanOrEqual(count);
      return found();
    },
  };
}
