/** The data of contacts in scripts/content.ts and in the tests of letters: usual values, and some that are hostile. */

import type { Random } from "../seed/random.ts";

/** Values that people have, each of them plain. */
const USUAL = [
  "Ada",
  "Grace Hopper",
  "Zoë",
  "O'Brien",
  'Ann "Nan" Lee',
  "Smith & Sons",
  "a < b > c",
  "&amp;",
  "=3D=",
  "From here",
  ".",
  "山田 太郎",
  "山田　太郎",
  "Иван Петров",
  "שלום",
  "مرحبا",
  "😀 👍🏽",
  "e\u0301",
  "v".repeat(200),
  "word ".repeat(60).trim(),
  "https://example.com/x",
  "a@example.com",
  "x".repeat(77),
  "1,234.50 €",
  "> quoted",
  " * item".trim(),
  "- 1. a",
];

/** Values that may change the structure of a mail, or that a mail must not contain. */
const HOSTILE = [
  "",
  " ",
  "  \t ",
  " leading",
  "trailing ",
  "two  blanks",
  "tab\tin it",
  "line\nbreak",
  "line\r\nbreak",
  "\r",
  "<b>bold</b>",
  "</p><p>",
  "\ue000",
  "\ue001x",
  "\u200b",
  "\u200d\u200c",
  "\u00a0",
  "a\u00a0b",
  "\u00ad",
  "👩‍💻",
  "\u2028",
  "\x01",
  "\x7f",
  "\ud800",
  "\ufeff",
  "\u3000",
  null,
  true,
  0,
  42,
  1.5,
  { a: 1 },
  ["x", "y"],
  "line\r\n.\r\nbreak",
  "{{ name }}",
  "\0",
];

/** Percentage of hostile values among those of every third contact. */
const HOSTILE_SHARE = 40;

/** Returns the data of the contact with this number. */
export function contactDataOf(random: Random, number: number): Record<string, unknown> {
  const data = contactDataWith(random, number % 3 === 0 ? HOSTILE_SHARE : 0);
  return { ...data, nick: random.pick(USUAL) };
}

/** Returns the data of a contact; `hostileShare` is the percentage of hostile values in it. */
export function contactDataWith(random: Random, hostileShare: number): Record<string, unknown> {
  const value = () =>
    random.integer(100) < hostileShare ? random.pick(HOSTILE) : random.pick(USUAL);
  const count = random.integer(3);
  return {
    name: value(),
    city: value(),
    order: value(),
    count: random.integer(5),
    items: Array.from({ length: count }, () => ({ title: value(), price: random.integer(999) })),
  };
}

/** POST /v1/send refuses longer display names. */
const MAX_NAME_LENGTH = 255;
const DISPLAY_NAMES = USUAL.filter(({ length }) => length <= MAX_NAME_LENGTH);

/** Returns a display name that a header can contain; null for some recipients. */
export function displayNameOf(random: Random): string | null {
  return random.integer(3) === 0 ? null : random.pick(DISPLAY_NAMES);
}
