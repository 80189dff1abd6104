/** The fields in which a project keeps the names of its contacts. Pure. */

const PARTS = [
  { part: "name", label: "Name", keys: ["name", "fullname"] },
  { part: "firstName", label: "First name", keys: ["firstname", "fname", "givenname"] },
  { part: "lastName", label: "Last name", keys: ["lastname", "lname", "surname", "familyname"] },
] as const;

type NameField = { part: (typeof PARTS)[number]["part"]; label: string; key: string };

const bare = (key: string): string => key.toLowerCase().replaceAll(/[\s_-]/g, "");

/**
 * The fields for the name of a new contact: the one for whole names, else those for its parts. A
 * project that has none of them gets `name`.
 */
export function nameFields(known: readonly string[]): NameField[] {
  const found = PARTS.flatMap(({ part, label, keys }) => {
    const key = known.find((each) => keys.some((name) => name === bare(each)));
    return key === undefined ? [] : [{ part, label, key }];
  });
  const whole = found.find(({ part }) => part === "name");
  if (whole !== undefined) return [whole];
  return found.length === 0 ? [{ part: "name", label: "Name", key: "name" }] : found;
}
