/** Finds the operation of a request in the published endpoint rows. */
import { ENDPOINT_ROWS } from "../../contract/operations.ts";
import type { EndpointRow, EndpointSet, OperationName } from "../../contract/operations.ts";
import { Refusal } from "./exchange.ts";

export interface Route {
  readonly operation: OperationName;
  /** The path parameter's value; empty if the path has none. */
  readonly target: string;
}

type Rows = ReadonlyMap<string, EndpointRow>;

/** Rows by pattern, for example `GET /v1/posts/:`. */
const ROUTES: { readonly [set in EndpointSet]: Rows } = { a: rowsOf("a"), b: rowsOf("b") };
const METHODS = ["GET", "POST", "PATCH", "PUT", "DELETE"];

function rowsOf(set: EndpointSet): Rows {
  return new Map(ENDPOINT_ROWS.filter((row) => row.set === set).map((row) => [`${row.method} ${row.path.replace(/:\w+/g, ":")}`, row]));
}

/** Throws `Refusal` 404, or 405 if the path exists with another method. */
export function routeOf(set: EndpointSet, method: string, path: string): Route {
  const shapes = shapesOf(path);
  for (const { shape, target } of shapes) {
    const row = ROUTES[set].get(`${method} ${shape}`);
    if (row !== undefined) return { operation: row.operation, target: decoded(target) };
  }
  const allowed = METHODS.filter((other) => shapes.some(({ shape }) => ROUTES[set].has(`${other} ${shape}`)));
  if (allowed.length > 0) throw new Refusal(405, "method_not_allowed", `use ${allowed.join(" or ")}`, { allow: allowed.join(", ") });
  throw new Refusal(404, "no_such_endpoint", `there is no ${method} ${path.slice(0, 100)}`);
}

/** Returns the patterns that may match a path: literal, or with its third segment as the parameter. */
function shapesOf(path: string): { shape: string; target: string }[] {
  const segments = path.split("/");
  const target = segments[3];
  const literal = { shape: path, target: "" };
  if (target === undefined || target === "" || segments.length > 5) return [literal];
  return [literal, { shape: [...segments.slice(0, 3), ":", ...segments.slice(4)].join("/"), target }];
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Refusal(400, "bad_path", "the path is not valid percent-encoding");
  }
}
