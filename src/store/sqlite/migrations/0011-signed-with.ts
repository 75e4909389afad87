/** The secret, hashed, with which a webhook was registered. Never changed once released. */

export const SIGNED_WITH = `
-- A salted hash of the secret the network was told, so that another secret is noticed. NULL: it was told none, or before this column.
ALTER TABLE registration ADD COLUMN signed_with TEXT;
`;
