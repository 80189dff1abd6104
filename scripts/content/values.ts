/** The data of the contacts of scripts/content.ts: usual values, and some that are hostile. */

import type { Random } from "../seed/random.ts";

/** Values that people have. */
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
  "Иван Петров",
  "שלום",
  "مرحبا",
  "😀 👍🏽",
  "v".repeat(200),
  "word ".repeat(60).trim(),
  "https://example.com/x",
  "1,234.50 €",
  "> quoted",
];

/** Values that may change the structure of a mail, or that a mail must not contain. */
const HOSTILE = [
  "",
  " ",
  " leading",
  "trailing ",
  "two  blanks",
  "tab\tin it",
  "line\nbreak",
  "line\r\n.\r\nbreak",
  "\r",
  "<b>bold</b>",
  "</p><p>",
  "{{ name }}",
  "\ue000",
  "\u200b",
  "\u00a0",
  "a\u00a0b",
  "👩‍💻",
  "\u2028",
  "\x01",
  "\ud800",
  "\ufeff",
  "\0",
  null,
  true,
  42,
  { a: 1 },
  ["x", "y"],
];

/** Percentage of hostile values among those of every third contact. */
const HOSTILE_SHARE = 40;

/** Returns the data of the contact with this number. */
export function contactDataOf(random: Random, number: number): Record<string, unknown> {
  const share = number % 3 === 0 ? HOSTILE_SHARE : 0;
  const value = () => (random.integer(100) < share ? random.pick(HOSTILE) : random.pick(USUAL));
  return {
    name: value(),
    city: value(),
    order: value(),
    nick: random.pick(USUAL),
    count: random.integer(5),
    items: Array.from({ length: random.integer(3) }, () => ({
      title: value(),
      price: random.integer(999),
    })),
  };
}

/** POST /v1/send refuses longer display names. */
const MAX_NAME_LENGTH = 255;
const DISPLAY_NAMES = USUAL.filter(({ length }) => length <= MAX_NAME_LENGTH);

/** Returns a display name that a header can contain; null for some recipients. */
export function displayNameOf(random: Random): string | null {
  return random.integer(3) === 0 ? null : random.pick(DISPLAY_NAMES);
}
