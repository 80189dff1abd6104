/** Filters, CSV files of contacts, and names that callers choose. */

import { dataFor, textFor } from "../../../src/http/role-views.ts";
import { createCsvReader, detectDialect } from "../../../src/lib/csv.ts";
import { isEventName, isEventPattern, trimmedEventName } from "../../../src/lib/event-name.ts";
import { splitPath } from "../../../src/lib/key-path.ts";
import { guessEncoding } from "../../../src/lib/text-encoding.ts";
import {
  COLUMN_TYPES,
  createColumnSurvey,
} from "../../../src/modules/contacts/import/column-types.ts";
import {
  readCell,
  removeMark,
  writeCell,
  writeRecord,
} from "../../../src/modules/contacts/import/cells.ts";
import { columnName, readHeader } from "../../../src/modules/contacts/import/columns.ts";
import { readRow } from "../../../src/modules/contacts/import/rows.ts";
import { parseSendingDomain } from "../../../src/modules/domains/name.ts";
import { isServiceEvent } from "../../../src/lib/service-events.ts";
import { checkCondition } from "../../../src/modules/segments/condition/condition.ts";
import { parsePeriod } from "../../../src/modules/segments/condition/dates.ts";
import { parseField } from "../../../src/modules/segments/condition/fields.ts";
import { slugOf } from "../../../src/modules/segments/slug.ts";
import { canonicalDomain } from "../../../src/protocols/mime/address.ts";
import {
  correctedDomain,
  isDisposableDomain,
  isPersonalDomain,
} from "../../../src/modules/verification/lists.ts";
import { matcherOf } from "../../../src/modules/webhooks/patterns.ts";
import { type Parser, samples } from "./linear.ts";

function readCsv(text: string): number {
  const reader = createCsvReader(detectDialect(text.slice(0, 65_536)));
  let count = 0;
  for (let at = 0; at < text.length; at += 65_536) {
    for (const items of reader.push(text.slice(at, at + 65_536))) count += items.length;
  }
  for (const items of reader.end()) count += items.length;
  return count;
}

const filters = (field: string, value: unknown) =>
  checkCondition(
    { logic: "AND", groups: [{ filters: [{ field, operator: "equals", value }] }] },
    "",
  );

export const MODULES_PARSERS: readonly Parser[] = [
  {
    name: "fields of filters",
    run: (text) => [parseField(text), filters(text, "a")],
    frames: [
      ["", ""],
      ["data.", ""],
      ["event.", ""],
    ],
    pumps: ["a.", "\\.", "\\\\"],
  },
  { name: "paths of keys", run: splitPath, maxCharacters: 65_536, pumps: ["a.", "\\.", "\\\\"] },
  {
    name: "dates of filters",
    run: (text) => [parsePeriod(text), filters("createdAt", text)],
    frames: [
      ["", ""],
      ["2026-01-01T00:00:00.", "Z"],
      ["2026-01-01T00:00:00.", "x"],
      ["2026-01-01", "Z"],
    ],
    pumps: ["T00", ":00"],
  },
  { name: "values of filters", run: (text) => filters("data.a", text) },
  {
    name: "many filters",
    run: (text) => checkCondition({ logic: "AND", groups: [{ filters: text.split("|") }] }, ""),
    pumps: ["|", "a|"],
  },
  {
    name: "CSV files",
    run: readCsv,
    maxCharacters: 512 * 1024,
    frames: [
      ["", ""],
      ["email,a\r\n", "\r\n"],
      ['email,a\n"', '"\n'],
      ['email,a\n1,"', ""],
    ],
    pumps: samples('"a",§"a\n§""§a"§"a"b\n§a,b\n§"a" \n§,"\n§"\r\n§"a"\r\n§"\n"x', "a;b,c\t\n"),
  },
  {
    name: "the dialect of a CSV file",
    run: detectDialect,
    maxCharacters: 65_536,
    frames: [
      ["", ""],
      ['"', ""],
      ['a,"', ""],
    ],
    pumps: [',"', '""', '"a",', '"\n', "a,b;c\t", ',""'],
  },
  {
    name: "cells",
    run: (text) => [
      COLUMN_TYPES.map((type) => readCell(text, type)),
      createColumnSurvey(null).see(text),
      removeMark(text),
      writeCell(text),
      writeRecord([text]),
    ],
    frames: [
      ["", ""],
      ["'", "x"],
      ["1.", "x"],
      ["-", "x"],
    ],
    pumps: ["'", "''", "1e", "=", "'="],
  },
  {
    name: "names of columns",
    run: (text) => [readHeader(text.split("|"), {}), columnName(text, false)],
    pumps: ["a|", "email|", "data.a|", "json:a|", "|", "a@b.test|"],
  },
  {
    name: "mappings of columns",
    run: (text) => readHeader(["a"], { [text]: text, a: text, b: `data.${text}` }),
    maxCharacters: 16_384,
    pumps: ["\\.", "a."],
  },
  {
    name: "records of contacts",
    run: (text) =>
      readRow(
        {
          columns: [{ kind: "email" }, { kind: "json", key: "a" }, { kind: "status" }],
          statusWords: new Map(),
          isList: false,
          types: [],
        },
        { line: 1, cells: [text, text, text] },
      ),
    maxCharacters: 1024 * 1024,
    frames: [
      ["", ""],
      ['{"a":"', '"}'],
    ],
    pumps: ["[", '{"a":', "[],", "1,"],
  },
  {
    name: "encodings",
    run: (text) => {
      const guess = guessEncoding();
      guess.see(Buffer.from(text, "latin1"));
      return guess.result();
    },
    maxCharacters: 1024 * 1024,
    pumps: ["\u00e9", "\u00c3\u00a9", "\u00ff\u00fe", "\u00f0\u009f"],
  },
  {
    name: "names of sending domains",
    run: parseSendingDomain,
    maxCharacters: 1_000,
    frames: [
      ["", ""],
      ["a.", "."],
    ],
    pumps: ["a.", "xn--", "co.uk."],
  },
  {
    name: "domains that are verified",
    run: (text) => {
      const domain = canonicalDomain(text) ?? "example.test";
      return [correctedDomain(domain), isDisposableDomain(domain), isPersonalDomain(domain)];
    },
    maxCharacters: 255,
    frames: [
      ["", ""],
      ["gm", "il.com"],
    ],
    pumps: ["a.", "gmail.com"],
  },
  {
    name: "names of events",
    run: (text) => [
      isServiceEvent(text),
      isEventName(text),
      isEventPattern(text),
      trimmedEventName(text),
      matcherOf([text])("a"),
    ],
    frames: [
      ["", ""],
      ["segment.", ".entr"],
    ],
    pumps: [".entry", "segment.", "email."],
  },
  {
    name: "links in texts that viewers see",
    run: (text) => textFor("VIEWER", text),
    pumps: ["a://", "a://b?", "?a", "&a=", "https://a/", "a."],
  },
  {
    name: "data that viewers see",
    run: (text) => [dataFor("VIEWER", { note: text }), dataFor("VIEWER", { [text]: text })],
    pumps: ["pin ", "a: ", "a is ", "%7B", '{"a":', "A1", "code", "1 ", "basic ", "a:b@", "é"],
  },
  {
    name: "names of segments",
    run: slugOf,
    maxCharacters: 255,
    frames: [
      ["", ""],
      ["a", "!"],
    ],
  },
];
