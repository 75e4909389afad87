/** The time of the copy that a store was restored from, for people. 0 where its rows have none. */
export function copyTime(from: number): string {
  return from > 0 ? new Date(from).toISOString() : "an unknown time";
}
