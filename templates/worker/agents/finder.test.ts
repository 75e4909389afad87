import assert from "node:assert/strict";
import { test } from "node:test";
import { findDuplicates } from "./work/duplicates.ts";

test("records that agree in every named field are one group", () => {
  const records = [
    { id: 1, email: "a@example.com" },
    { id: 2, email: " A@Example.com" },
    { id: 3, email: "b@example.com" },
  ];
  const found = findDuplicates("Records are duplicates when they agree in `email` after normalising.", { records });
  assert.deepEqual(found, { groups: [{ keep: 1, drop: [2] }], unique: 1, errors: [] });
});
