/** The fields of the editor of a form, and the request that they make. Pure. */

import type { Form, FormInput } from "../../../modules/forms/model.ts";

type FormField = Form["fields"][number];

/** A field as it is edited. `key` stays the same while the field is moved. */
export type FormFieldValues = {
  key: number;
  name: string;
  label: string;
  kind: FormField["kind"];
  isRequired: boolean;
  /** One option in each line. */
  options: string;
  maxLength: number | null;
};

export type FormValues = {
  name: string;
  title: string;
  description: string;
  fields: FormFieldValues[];
  topics: Form["topics"];
  consent: string;
  hasBox: boolean;
  buttonLabel: string;
  confirmation: Form["confirmation"];
  templateId: string | null;
  successMessage: string;
  successUrl: string;
  confirmedUrl: string;
  /** One origin in each line. */
  origins: string;
  language: Form["language"];
  isEnabled: boolean;
};

export function valuesOf(form: Form): FormValues {
  return {
    name: form.name,
    title: form.title,
    description: form.description ?? "",
    fields: form.fields.map((field, key) => ({
      key,
      name: field.name,
      label: field.label,
      kind: field.kind,
      isRequired: field.isRequired ?? false,
      options: (field.options ?? []).join("\n"),
      maxLength: field.maxLength ?? null,
    })),
    topics: form.topics,
    consent: form.consent?.wording ?? "",
    hasBox: form.consent?.hasBox ?? true,
    buttonLabel: form.buttonLabel ?? "",
    confirmation: form.confirmation,
    templateId: form.templateId,
    successMessage: form.successMessage ?? "",
    successUrl: form.successUrl ?? "",
    confirmedUrl: form.confirmedUrl ?? "",
    origins: form.origins.join("\n"),
    language: form.language,
    isEnabled: form.isEnabled,
  };
}

const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

const textOrNull = (text: string): string | null => (text.trim() === "" ? null : text.trim());

/** The body of the request that creates or changes the form. */
export function formBody(values: FormValues): FormInput {
  const wording = textOrNull(values.consent);
  return {
    name: values.name.trim(),
    title: values.title.trim(),
    description: textOrNull(values.description),
    fields: values.fields.map(({ name, label, kind, isRequired, options, maxLength }) => ({
      name: name.trim(),
      label: label.trim(),
      kind,
      isRequired,
      ...(kind === "CHOICE" && { options: linesOf(options) }),
      ...(kind === "TEXT" && maxLength !== null && { maxLength }),
    })),
    topics: values.topics,
    consent: wording === null ? null : { wording, hasBox: values.hasBox },
    buttonLabel: textOrNull(values.buttonLabel),
    confirmation: values.confirmation,
    templateId: values.templateId,
    successMessage: textOrNull(values.successMessage),
    successUrl: textOrNull(values.successUrl),
    confirmedUrl: textOrNull(values.confirmedUrl),
    origins: linesOf(values.origins),
    language: values.language,
    isEnabled: values.isEnabled,
  };
}

/** A key for the data of contacts, made of a label: "First name" becomes firstName. */
export function nameOfLabel(label: string): string {
  return label
    .normalize("NFD")
    .toLowerCase()
    .replace(/^[^a-z]+/, "")
    .replace(/[^a-z0-9]+(.?)/g, (_, next: string) => next.toUpperCase())
    .slice(0, 64);
}

/** A new field after the others. */
export function newField(fields: readonly FormFieldValues[]): FormFieldValues {
  const key = Math.max(-1, ...fields.map((field) => field.key)) + 1;
  const empty = { name: "", label: "", options: "", maxLength: null };
  return { key, ...empty, kind: "TEXT", isRequired: false };
}

/** The fields with one of them moved by one place; the same list at an end. */
export function moved(
  fields: readonly FormFieldValues[],
  from: number,
  by: 1 | -1,
): FormFieldValues[] {
  const to = from + by;
  const [one, other] = [fields[from], fields[to]];
  if (one === undefined || other === undefined) return [...fields];
  return fields.map((field, i) => (i === from ? other : i === to ? one : field));
}
