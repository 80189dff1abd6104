/**
 * An HTML document that shows records, such as the proof of a consent: a title, and sections with a
 * table each. It loads nothing, runs no script, and is made to be printed.
 */

type RecordSection = {
  title: string;
  /** A sentence under the title. */
  note?: string;
  columns: readonly string[];
  rows: Iterable<readonly string[]>;
  /** A sentence that is shown if there are no rows. */
  nothing: string;
};

type RecordHead = {
  /** Language tag (BCP 47). */
  language: string;
  title: string;
  /** Sentences under the title. */
  notes: readonly string[];
};

const STYLE = `
:root { color-scheme: light dark; --ink: #1b2230; --paper: #fff; --soft: #566072; --line: #d5dae3 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e9edf4; --paper: #12151b; --soft: #a5afc0; --line: #313947 }
}
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 72rem; padding: 2rem 1.25rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  overflow-wrap: anywhere }
h1 { margin: 0 0 .75rem; font-size: 1.5rem }
h2 { margin: 2rem 0 .5rem; font-size: 1.125rem; break-after: avoid }
p { margin: 0 0 .5rem; max-width: 60rem; color: var(--soft) }
.scroll { overflow-x: auto }
table { width: 100%; border-collapse: collapse; font-size: .875rem }
th, td { padding: .375rem .75rem .375rem 0; border-top: 1px solid var(--line); text-align: left;
  vertical-align: top; white-space: pre-wrap; min-width: 7.5rem }
td:last-child { min-width: 10rem }
th { color: var(--soft); font-weight: 600; overflow-wrap: normal }
tr { break-inside: avoid }
@media screen and (max-width: 40rem) {
  .cards thead { display: none }
  .cards tr { display: block; padding: .375rem 0; border-top: 1px solid var(--line) }
  .cards td, .cards td:last-child { display: grid; grid-template-columns: 9rem minmax(0, 1fr); gap: .75rem;
    padding: .125rem 0; border: 0 }
  .cards td::before { content: attr(data-label); color: var(--soft); font-weight: 600 }
}
@media print { :root { color-scheme: light; --ink: #000; --paper: #fff; --soft: #444; --line: #bbb }
  body { padding: 0; max-width: none } .scroll { overflow: visible }
  th, td, td:last-child { min-width: 0 } }
`;

const STYLE_HASH = new Bun.CryptoHasher("sha256").update(STYLE).digest("base64");

export const RECORD_HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": `default-src 'none'; img-src data:; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'`,
  "Referrer-Policy": "no-referrer",
  "X-Robots-Tag": "noindex, nofollow",
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
};

export function recordPage(head: RecordHead, sections: readonly RecordSection[]): string {
  return recordHead(head) + sections.map(recordSection).join("") + RECORD_END;
}

/** The start of a document that is sent while it is made; its sections and `RECORD_END` follow. */
export function recordHead({ language, title, notes }: RecordHead): string {
  const name = Bun.escapeHTML(title);
  return `<!doctype html>
<html lang="${Bun.escapeHTML(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${name}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<h1>${name}</h1>
${notes.map((note) => `<p>${Bun.escapeHTML(note)}</p>\n`).join("")}`;
}

export const RECORD_END = "</body>\n</html>\n";

function recordSection(section: RecordSection): string {
  return [...recordSectionParts(section)].join("");
}

/** The parts of a section: one for each row, and others around them. */
export function* recordSectionParts(section: RecordSection): Generator<string> {
  const { title, note, columns, rows, nothing } = section;
  yield `<h2>${Bun.escapeHTML(title)}</h2>\n`;
  if (note !== undefined) yield `<p>${Bun.escapeHTML(note)}</p>\n`;
  const labels =
    columns.length > MAX_NARROW_COLUMNS ? columns.map((name) => Bun.escapeHTML(name)) : [];
  let count = 0;
  for (const row of rows) {
    if (count++ === 0) yield tableStart(columns);
    yield `<tr>${row.map((cell, i) => cellOf(cell, labels[i])).join("")}</tr>\n`;
  }
  yield count === 0 ? `<p>${Bun.escapeHTML(nothing)}</p>\n` : TABLE_END;
}

const TABLE_END = "</tbody>\n</table></div>\n";

/** With more columns, a narrow screen shows each row as a list: a label and a value in each line. */
const MAX_NARROW_COLUMNS = 2;

function tableStart(columns: readonly string[]): string {
  const look = columns.length > MAX_NARROW_COLUMNS ? ' class="cards"' : "";
  const cells = columns.map((name) => `<th>${Bun.escapeHTML(name)}</th>`).join("");
  return `<div class="scroll"><table${look}>\n<thead><tr>${cells}</tr></thead>\n<tbody>\n`;
}

const cellOf = (text: string, label: string | undefined): string =>
  `<td${label === undefined ? "" : ` data-label="${label}"`}>${Bun.escapeHTML(text)}</td>`;
