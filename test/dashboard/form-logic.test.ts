/** The values of the editor of sign-up forms. */

import { expect, test } from "bun:test";
import {
  formBody,
  moved,
  nameOfLabel,
  newField,
  valuesOf,
} from "../../src/dashboard/pages/forms/form-values.ts";
import type { Form, FormInput } from "../../src/modules/forms/model.ts";

const CONTENT: FormInput & Omit<Form, keyof typeof STORED> = {
  name: "Footer",
  title: "Letters",
  description: null,
  fields: [
    { name: "first_name", label: "First name", kind: "TEXT", isRequired: true, maxLength: 40 },
    { name: "size", label: "Size", kind: "CHOICE", isRequired: false, options: ["Small", "Large"] },
  ],
  topics: [{ topicId: "t", isPreselected: true }],
  consent: { wording: "Yes", hasBox: false },
  buttonLabel: null,
  confirmation: "SINGLE",
  templateId: null,
  successMessage: null,
  successUrl: "https://acme.example/",
  confirmedUrl: null,
  origins: ["https://acme.example", "https://shop.example"],
  language: "de",
  isEnabled: true,
};

const STORED = {
  id: "1",
  url: "http://127.0.0.1/f/1",
  counts: { shown: 0, submitted: 0, confirmed: 0, withheld: 0 },
  revision: 1,
  createdAt: "2026-03-02T09:00:00.000Z",
  updatedAt: "2026-03-02T09:00:00.000Z",
};

const FORM: Form = { ...CONTENT, ...STORED };

test("a form that is not changed makes the request that it came from", () => {
  expect(formBody(valuesOf(FORM))).toEqual(CONTENT);
});

test("empty texts are none, and lists are the lines with a text", () => {
  const [field] = valuesOf(FORM).fields;
  if (field === undefined) throw new Error("the form has no field");
  const body = formBody({
    ...valuesOf(FORM),
    consent: " ",
    successUrl: "",
    origins: " https://a.example \n\n",
    fields: [{ ...field, kind: "CHOICE", options: "One\n \nTwo " }],
  });
  expect(body).toMatchObject({ consent: null, successUrl: null, origins: ["https://a.example"] });
  expect(body.fields?.[0]).toMatchObject({ kind: "CHOICE", options: ["One", "Two"] });
});

test.each([
  ["First name", "firstName"],
  ["Größe (cm)", "groECm"],
  ["2nd address", "ndAddress"],
  ["日本", ""],
])("the label %p is stored as %p", (label, name) => {
  expect(nameOfLabel(label)).toBe(name);
});

test("fields are moved by one place, and a new one has a key of its own", () => {
  const { fields } = valuesOf(FORM);
  expect(moved(fields, 0, 1).map(({ key }) => key)).toEqual([1, 0]);
  expect(moved(fields, 0, -1)).toEqual(fields);
  expect(newField(moved(fields, 0, 1)).key).toBe(2);
});
