/**
 * JSON is of unknown shape until a schema or a parser has checked it: `JSON.parse`, which gives
 * `any`, stands only where its value becomes `unknown` or is the argument of a parser.
 */

import { describe, expect, test } from "bun:test";
import { filesOf, type TextFile } from "../support/exports.ts";

const CALL = /\bJSON\.parse\(/g;
const CHECKED =
  /(?:: unknown = |\): unknown \{\s+try \{\s+return |\bValue\.(?:Parse|Decode)\(\s*\w+,\s*|\b(?:parse|read)[A-Z]\w*\(\s*)JSON\.parse\(/g;

/**
 * Calls whose value is used unchecked, by file and number. All read a column that the application
 * itself wrote as JSON. The list only shrinks.
 */
const UNCHECKED: Readonly<Record<string, { calls: number; reason: string }>> = {
  "src/http/idempotency.ts": { calls: 1, reason: "A replay is byte for byte the first answer." },
  "src/modules/campaigns/present.ts": {
    calls: 1,
    reason: "The stored condition, design and parameters of links are shown as they are.",
  },
  "src/modules/contacts/activity.ts": { calls: 1, reason: "The data of an event has any shape." },
  "src/modules/contacts/bulk/bulk.ts": { calls: 2, reason: "Input and errors of a stored job." },
  "src/modules/contacts/import/imports.ts": { calls: 1, reason: "Errors of a stored job." },
  "src/modules/contacts/jobs/jobs.ts": { calls: 1, reason: "Errors of a stored job of any kind." },
  "src/modules/events/events.ts": { calls: 1, reason: "The data of an event has any shape." },
  "src/modules/segments/service.ts": {
    calls: 1,
    reason: "The stored condition is shown as it is.",
  },
  "src/modules/webhooks/webhooks.ts": {
    calls: 2,
    reason: "Event names, checked before they were stored.",
  },
  "src/modules/workflows/versions.ts": {
    calls: 1,
    reason: "A graph, checked before it was stored; it is read for every step of an execution.",
  },
  "src/protocols/smtp/conversation.ts": {
    calls: 1,
    reason: "Stored conversations, which are shown as they are.",
  },
  "src/outbox/compose/tasks.ts": {
    calls: 2,
    reason: "Messages between the event loop and a thread, which this program wrote itself.",
  },
  "src/outbox/compose/mail-variables.ts": {
    calls: 1,
    reason: "Variables, checked before they were stored; they are read for every mail.",
  },
  "src/outbox/compose/prepare.ts": {
    calls: 1,
    reason: "Headers, checked before they were stored; they are read for every mail.",
  },
};

/** Number of calls in a file whose value is not checked. */
function uncheckedCalls({ text }: Pick<TextFile, "text">): number {
  return (text.match(CALL)?.length ?? 0) - (text.match(CHECKED)?.length ?? 0);
}

test("JSON is parsed into unknown or by a schema", () => {
  const found = filesOf(["src"])
    .map((source) => ({ file: source.file, calls: uncheckedCalls(source) }))
    .filter(({ file, calls }) => calls > (UNCHECKED[file]?.calls ?? 0));
  expect(found).toEqual([]);
});

test("every exception is needed", () => {
  const sources = new Map(filesOf(["src"]).map((source) => [source.file, source]));
  const wrong = Object.entries(UNCHECKED).filter(
    ([file, { calls }]) => uncheckedCalls(sources.get(file) ?? { text: "" }) !== calls,
  );
  expect(wrong).toEqual([]);
});

describe("an unchecked call", () => {
  test.each<[text: string, calls: number]>([
    ["const rows: Row[] = JSON.parse(text);", 1],
    ["return { data: JSON.parse(row.data) };", 1],
    ["const { a } = JSON.parse(text), b = f(JSON.parse(text));", 2],
    ["const value: unknown = JSON.parse(text);", 0],
    ["function parse(text: string): Graph {\n  return JSON.parse(text);", 1],
    ["function parse(text: string): unknown {\n  try {\n    return JSON.parse(text);", 0],
    ["Value.Parse(Job, JSON.parse(job.input))", 0],
    ["Value.Parse(\n  Job,\n  JSON.parse(job.input),\n)", 0],
    ["parseCondition(JSON.parse(text), name)", 0],
  ])("%s", (text, calls) => {
    expect(uncheckedCalls({ text })).toBe(calls);
  });
});
