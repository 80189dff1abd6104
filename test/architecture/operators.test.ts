/**
 * The operators of filters stand in one table (src/modules/segments/condition/operators.ts). No other
 * source file names one, so that each operator has one meaning.
 */

import { expect, test } from "bun:test";
import { OPERATOR_NAMES, OPERATORS } from "../../src/modules/segments/condition/operators.ts";
import { type Source, sources } from "../support/sources.ts";

const TABLE = "modules/segments/condition/operators.ts";

/** Files with a string that is also the name of an operator, each with the reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "modules/campaigns/service.ts": "The condition of a campaign that follows up another one.",
  "modules/segments/condition-model.ts": "The example of a condition in the OpenAPI document.",
  "dashboard/pages/segments/builder/draft.ts": "The values that a form has for operators.",
  "dashboard/pages/segments/builder/operators.ts": "The choices of a form, with words.",
  "dashboard/pages/segments/condition-words.ts": "The operators in words.",
  "dashboard/pages/segments/samples.ts": "The example of a condition in the dashboard.",
  "dashboard/ui/editors/visual/conditions.ts": "The operators of Liquid.",
  "modules/workflows/series.ts": "The conditions of series that workflows begin as.",
  "modules/verification/verification.ts": "Whether a domain exists.",
};

const STRING = /"([^"\n]*)"|'([^'\n]*)'/g;

/** The names of operators that the file has as strings, as `file name`. */
function namedIn({ file, text }: Source): string[] {
  return [...text.matchAll(STRING)]
    .map(([, double, single]) => double ?? single ?? "")
    .filter((name) => OPERATOR_NAMES.includes(name))
    .map((name) => `${file} ${name}`);
}

test("no file but the table names an operator", () => {
  const files = sources.filter(({ file }) => file !== TABLE && EXCEPTIONS[file] === undefined);
  expect(files.flatMap(namedIn)).toEqual([]);
});

test("every exception is needed", () => {
  const files = Object.keys(EXCEPTIONS);
  const unneeded = sources.filter(
    (source) => files.includes(source.file) && namedIn(source).length === 0,
  );
  expect(unneeded.map(({ file }) => file)).toEqual([]);
});

test("a file that names an operator is found", () => {
  const text = `switch (operator) {\n  case "notEquals":\n    return 'within';\n  case "other":\n}`;
  expect(namedIn({ file: "a.ts", text })).toEqual(["a.ts notEquals", "a.ts within"]);
});

test("every entry of the table says which kind of value the operator takes", () => {
  const entries = Object.values(OPERATORS).flatMap((operators) => Object.values(operators));
  expect(entries.map(({ takes }) => takes)).toEqual(entries.map(() => expect.any(String)));
  expect(OPERATOR_NAMES).toContain("notMemberOf");
});
