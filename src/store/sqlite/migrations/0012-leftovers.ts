/** Index of the kept bodies of unhandled deliveries. Never changed once released. */

export const LEFTOVERS = `
CREATE INDEX delivery_leftover ON delivery (specialist, kind, seq) WHERE done_at IS NOT NULL AND body IS NOT NULL;
`;
