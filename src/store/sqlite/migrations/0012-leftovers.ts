/** Finds the bodies that are kept of deliveries nobody handles or understands. Never changed once released. */

export const LEFTOVERS = `
CREATE INDEX delivery_leftover ON delivery (specialist, kind, seq) WHERE done_at IS NOT NULL AND body IS NOT NULL;
`;
