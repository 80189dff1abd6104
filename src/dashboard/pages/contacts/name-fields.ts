/** The fields in which a project keeps the names of its contacts. Pure. */

import { type ContactData, valueText } from "./data-values.ts";

const PARTS = [
  { part: "name", label: "Name", keys: ["name", "fullname"] },
  { part: "firstName", label: "First name", keys: ["firstname", "fname", "givenname"] },
  { part: "lastName", label: "Last name", keys: ["lastname", "lname", "surname", "familyname"] },
] as const;

type NameField = { part: (typeof PARTS)[number]["part"]; label: string; key: string };

const bare = (key: string): string => key.toLowerCase().replaceAll(/[\s_-]/g, "");

/**
 * The fields for the name of a new contact, if the most frequent keys come first: those for its parts
 * if both are more frequent than the one for whole names. A project that has none gets `name`.
 */
export function nameFields(known: readonly string[]): NameField[] {
  const rank = ({ key }: NameField) => known.indexOf(key);
  const found: NameField[] = PARTS.flatMap(({ part, label, keys }) => {
    const key = known.find((each) => keys.some((name) => name === bare(each)));
    return key === undefined ? [] : [{ part, label, key }];
  });
  const whole = found.find(({ part }) => part === "name");
  const parts = found.filter((field) => field !== whole);
  if (whole === undefined) {
    return parts.length === 0 ? [{ part: "name", label: "Name", key: "name" }] : parts;
  }
  const areParts = parts.length === 2 && parts.every((field) => rank(field) < rank(whole));
  return areParts ? parts : [whole];
}

/** The value at a key of a contact; its whole name if the key is a part of it. */
export function nameOrValue(data: ContactData, key: string): string {
  const keys = nameFields(Object.keys(data)).map((field) => field.key);
  const shown = keys.includes(key) ? keys : [key];
  return shown.map((each) => valueText(data[each])).join(" ");
}
