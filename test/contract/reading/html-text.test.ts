import { describe, expect, test } from "vitest";
import { htmlOfText, textOfHtml } from "../../../src/contract/reading/html-text.ts";
import { timesAsLong } from "../../harness/times-as-long.ts";

/** For a text that is eight times as long: 64 would be a time that grows with the square. */
const MOST_TIMES = 24;

describe("HTML of others becomes the text that a reader would see", () => {
  test.each([
    ["<p>One &amp; two</p>", "One & two"],
    ["<p>First</p><p>second<br>third</p>", "First\nsecond\nthird"],
    ['<a class="mention" href="https://a.example/@scout">@<b>scout</b></a> hello', "@scout hello"],
    ["1 &lt; 2 &#38; 3 &#x3E; 2&nbsp;", "1 < 2 & 3 > 2"],
    ["&amp;lt;script&amp;gt;", "&lt;script&gt;"],
    ["a<script>alert(1)</script>b<!-- c -->d<style>p{}</style>", "abd"],
    ["no markup, 1 < 2 and 3>2", "no markup, 1 < 2 and 3>2"],
    ["&unknown; &#0; &#1114112; &", "&unknown; &#0; &#1114112; &"],
    ["  a \n\n  b  ", "a b"],
    ["<p", "<p"],
    ["", ""],
  ])("%j is %j", (html, text) => expect(textOfHtml(html)).toBe(text));

  test("in time that grows with its length, whatever it is", () => {
    for (const piece of ["<", "<a", "<script>", "<!--", "&#", "<p ", " \n"]) {
      const [whole, eighth] = [piece.repeat(200_000), piece.repeat(25_000)];
      const times = timesAsLong(
        () => textOfHtml(whole),
        () => textOfHtml(eighth),
        MOST_TIMES,
      );
      expect([piece, times <= MOST_TIMES]).toEqual([piece, true]);
    }
  });
});

test("a text sent as HTML is read back as it was, and nothing in it is markup", () => {
  for (const text of ["a < b & c > d", 'he said "<script>"', "one\ntwo", "&amp;"]) {
    expect(htmlOfText(text)).not.toMatch(/<(?!\/?p>|br>)/);
    expect(textOfHtml(htmlOfText(text))).toBe(text);
  }
});
