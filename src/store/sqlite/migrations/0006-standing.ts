/** Network state, kept over restarts. Never changed once released. */

export const STANDING = `
CREATE TABLE standing (
  kind TEXT NOT NULL,                  -- stop | drift | slowed | profile
  name TEXT NOT NULL,
  data TEXT NOT NULL,                  -- a JSON object, by kind
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (kind, name)
) WITHOUT ROWID;
`;
