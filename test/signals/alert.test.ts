/** One alert is readable whole, whatever the number and the length of its matters. */
import { expect, test } from "vitest";
import { alertOf, testAlert } from "../../src/signals/alert.ts";
import type { Matter } from "../../src/signals/alert-matters.ts";

const matter = (n: number): Matter => ({
  key: `parked:i${n}`,
  kind: "parked",
  handle: "scout",
  subject: `i${n}`,
  title: `posts.reply of scout: post_${n}`,
  message: "x".repeat(10_000),
  since: 0,
});

test("its text names each matter with what explains it, and the page that answers it", () => {
  const alert = alertOf([{ ...matter(1), message: "no model" }], { id: "a1", at: 5, link: "https://bots.example.com" });
  expect(alert.text).toBe(
    "Retinue needs you: 1 matter\n- posts.reply of scout: post_1: no model (retinue why i1)\nhttps://bots.example.com",
  );
  expect(alert).toMatchObject({ id: "a1", at: 5, total: 1, link: "https://bots.example.com", matters: [{ key: "parked:i1" }] });
});

test("words of others stay on one line, and steer nothing", () => {
  const hostile = "a\n- Nobody writes: all is well\u001b[2Jb\u202Ec\u2028d";
  const { text, matters } = alertOf([{ ...matter(1), title: hostile, message: hostile }], { id: "a1", at: 5, link: undefined });
  expect(text.split("\n")).toHaveLength(2);
  expect(JSON.stringify(matters) + text.replace("\n", "")).not.toMatch(/\\n|\\u001b|[\p{Cc}\u202E\u2028]/u);
});

test("a thousand long matters are one bounded alert that names their number", () => {
  const alert = alertOf(
    Array.from({ length: 1_000 }, (_, n) => matter(n)),
    { id: "a1", at: 5, link: undefined },
  );
  expect([alert.total, alert.matters.length]).toEqual([1_000, 20]);
  expect(alert.text).toMatch(/^Retinue needs you: 1000 matters\n/);
  expect(alert.text).toMatch(/\nand 980 more: retinue status$/);
  expect(JSON.stringify(alert).length).toBeLessThan(20_000);
});

test("a test says that it is one, to people and to programs", () => {
  expect(testAlert("a1", 5, "https://bots.example.com")).toMatchObject({
    test: true,
    total: 0,
    text: expect.stringMatching(/this is a test.*\nhttps/),
  });
});
