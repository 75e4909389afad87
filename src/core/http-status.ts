/** The HTTP status that an error of a server's framework asks for. */
export function statusOf(error: unknown): number {
  const status = typeof error === "object" && error !== null && "statusCode" in error ? error.statusCode : undefined;
  return typeof status === "number" && status >= 400 && status <= 599 ? status : 500;
}
