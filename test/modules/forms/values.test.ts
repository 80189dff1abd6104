import { describe, expect, test } from "bun:test";
import type { FormField } from "../../../src/db/schema/forms.ts";
import { readValues } from "../../../src/modules/forms/values.ts";
import { chooseFormTexts } from "../../../src/render/form-texts.ts";
import { LANGUAGES } from "../../../src/render/language.ts";

const { errors } = chooseFormTexts("en", null).form;

function read(fields: FormField[], posted: string, more: object = {}) {
  const form = { fields, topicIds: ["t1", "t2"], hasConsentBox: false, ...more };
  const result = readValues(form, new URLSearchParams(posted), errors);
  return result.ok ? result.values : Object.fromEntries(result.faults);
}

const field = (kind: FormField["kind"], more: Partial<FormField> = {}): FormField => ({
  name: "x",
  label: "X",
  kind,
  ...more,
});

describe("a value", () => {
  const taken: [kind: FormField, posted: string, value: unknown][] = [
    [field("TEXT"), "  Ada  Lovelace ", "Ada  Lovelace"],
    [field("TEXT"), "a\r\nBcc: eve@example.com", "a Bcc: eve@example.com"],
    [field("TEXT"), "=HYPERLINK(1)", "=HYPERLINK(1)"],
    [field("TEXT"), "{{ x }}", "{{ x }}"],
    [field("TEXT"), "<script>", "<script>"],
    [field("TEXT", { maxLength: 3 }), "abc", "abc"],
    [field("TEXT"), "   ", undefined],
    [field("NUMBER"), "12", 12],
    [field("NUMBER"), "-1,5", -1.5],
    [field("NUMBER"), "+3.25", 3.25],
    [field("DATE"), "2024-02-29", "2024-02-29"],
    [field("CHOICE", { options: ["Red", "Blue"] }), "Blue", "Blue"],
    [field("CHECKBOX"), "yes", true],
    [field("CHECKBOX"), "off", false],
    [field("CHECKBOX"), "", false],
  ];
  test.each(taken)("of %j in %j is read", (kind, posted, value) => {
    const values = read([kind], `email=a@b.co&x=${encodeURIComponent(posted)}`);
    expect(Object(values)["data"]).toEqual(value === undefined ? {} : { x: value });
  });

  const refused: [kind: FormField, posted: string, fault: string][] = [
    [field("TEXT", { isRequired: true }), " \t", errors.required],
    [field("TEXT", { maxLength: 3 }), "abcd", "Please enter at most 3 characters."],
    [field("NUMBER"), "1e9", errors.number],
    [field("NUMBER"), "1.2.3", errors.number],
    [field("NUMBER"), "9".repeat(1_000_00), errors.number],
    [field("DATE"), "2023-02-29", errors.date],
    [field("DATE"), "01/02/2023", errors.date],
    [field("CHOICE", { options: ["Red"] }), "Green", errors.choice],
    [field("CHECKBOX", { isRequired: true }), "", errors.checkbox],
  ];
  test.each(refused)("of %j that does not fit is refused", (kind, posted, fault) => {
    expect(read([kind], `email=a@b.co&x=${encodeURIComponent(posted)}`)).toEqual({ x: fault });
  });
});

const addresses: [given: string, result: unknown][] = [
  [" Ada@Example.COM ", "ada@example.com"],
  ["müller@bücher.example", "müller@xn--bcher-kva.example"],
  ["", { email: errors.required }],
  ["ada", { email: errors.email }],
  ["ada@example.com\r\nBcc: x@example.com", { email: errors.email }],
  ["ada@example.com, eve@example.com", { email: errors.email }],
  [`${"a".repeat(400)}@example.com`, { email: errors.email }],
];
test.each(addresses)("the address %j is read or refused", (given, result) => {
  const values = read([], `email=${encodeURIComponent(given)}`);
  expect(typeof result === "string" ? Object(values)["email"] : values).toEqual(result);
});

test("all faults are told, in the order of the form", () => {
  const fields = [field("TEXT", { isRequired: true }), field("DATE", { name: "y" })];
  const faults = read(fields, "y=z", { hasConsentBox: true });
  expect(Object.keys(faults)).toEqual(["email", "x", "y", "consent"]);
});

test("only the topics that the form offers are chosen", () => {
  const values = read([], "email=a@b.co&topics=t2&topics=other&topics=t2");
  expect(Object(values)["topicIds"]).toEqual(["t2"]);
});

test("a name that every object has is no value", () => {
  const named = [field("TEXT", { name: "constructor" })];
  expect(Object(read(named, "email=a@b.co"))["data"]).toEqual({});
});

test("each language has all texts, with the same placeholders", () => {
  const texts = LANGUAGES.map((language) => chooseFormTexts(language, null).form);
  const shape = (value: unknown): unknown =>
    typeof value === "string"
      ? [...value.matchAll(/\{\w+\}/g)].map(([name]) => name).toSorted()
      : Object.fromEntries(Object.entries(Object(value)).map(([name, of]) => [name, shape(of)]));
  for (const each of texts) expect(shape(each)).toEqual(shape(texts[0]));
  expect(new Set(texts.map(({ checkInbox }) => checkInbox.title)).size).toBe(9);
});
