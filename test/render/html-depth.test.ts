import { describe, expect, test } from "bun:test";
import { offsetOfDepth } from "../../src/render/html-depth.ts";

describe("offsetOfDepth finds the first element nested deeper than two levels", () => {
  const cases: [what: string, html: string, offset: number][] = [
    ["an empty document", "", -1],
    ["as deep as allowed", "<a><b>x</b></a>", -1],
    ["one level deeper", "<a><b><i>x", 6],
    ["end tags", "<a><b></b><i></i></a><a><b>", -1],
    ["an end tag of an outer element", "<a><b></a><i><u>", -1],
    ["end tags of elements that are not open", "<a></x></y><b></z><i>", 18],
    ["capitals", "<A></a><B></b><I></i>", -1],
    ["void elements", "<a><br><img src=x><hr><b>", -1],
    ["list items without end tags", "<ul><li>a<li>b<li>c", -1],
    ["paragraphs without end tags", "<div><p>a<p>b<p>c", -1],
    ["cells without end tags", "<table><td>a<td>b<td>c", -1],
    ["a list in a list", "<li><ul><li>", 8],
    ["a closing angle bracket in a value", "<a x=\"<b>\"><b y='<i>'>", -1],
    ["an opening angle bracket between values", "<a <b><i><u>", 9],
    ["quotes that do not enclose a value", '<a "><b "><i>', 10],
    ["a value whose quote is not closed", '<a x="><b><i><u>', -1],
    ["elements in comments", "<a><!-- <b><b><b> --><b>", -1],
    ["a comment that is not closed", "<a><!-- <b><b><b>", -1],
    ["declarations", "<!doctype html><?x?><a><b>", -1],
    ["elements in scripts", "<a><script><b><b><b></SCRIPT><b>", -1],
    ["a script that is not closed", "<script><b><b><b></x>", -1],
    ["angle brackets that are not tags", "<a> 1 < 2 <3 << <b>", -1],
    ["foreign content", "<svg><g><g>", 8],
  ];

  test.each(cases)("%s", (_, html, offset) => {
    expect(offsetOfDepth(html, 2)).toBe(offset);
  });
});
