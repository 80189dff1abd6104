/**
 * Writes the placeholders of other products in Liquid. Each product has a table; the first rule that
 * matches a placeholder wins. An unknown placeholder stays as it is, and the check of the template then
 * names it, so that no template is imported that would be sent with text of another language.
 */

type Rule = readonly [pattern: RegExp, liquid: string | ((...groups: string[]) => string)];

/** Placeholders of Mailchimp. Merge fields have the names of the columns of an export. */
const MAILCHIMP: readonly Rule[] = [
  [/\*\|FNAME\|\*/gi, "{{ First Name }}"],
  [/\*\|LNAME\|\*/gi, "{{ Last Name }}"],
  [/\*\|EMAIL\|\*/gi, "{{ email }}"],
  [/\*\|PHONE\|\*/gi, "{{ Phone Number }}"],
  [/\*\|ADDRESS\|\*/gi, "{{ Address }}"],
  [/\*\|BIRTHDAY\|\*/gi, "{{ Birthday }}"],
  [/\*\|UNSUB(?:_URL)?\|\*/gi, "{{ unsubscribeUrl }}"],
  [/\*\|UPDATE_PROFILE\|\*/gi, "{{ manageUrl }}"],
  [
    /\*\|IF(?:NOT)?:(?:MC_PREVIEW_TEXT|ARCHIVE_PAGE)\|\*(?:(?!\*\|END:IF\|\*)[^]){0,2000}\*\|END:IF\|\*/gi,
    "",
  ],
  [
    /\*\|(?:MC:SUBJECT|MC_PREVIEW_TEXT|REWARDS|CURRENT_YEAR|(?:HTML:)?LIST:?_?[A-Z_]{1,40})\|\*/gi,
    "",
  ],
];

/** Placeholders of listmonk, which are those of Go. */
const LISTMONK: readonly Rule[] = [
  [/\{\{-?\s{0,9}template\s{1,9}"content"\s{1,9}\.\s{0,9}-?\}\}/g, "{{ content }}"],
  [/\{\{-?\s{0,9}\.Subscriber\.Email\s{0,9}-?\}\}/g, "{{ email }}"],
  [/\{\{-?\s{0,9}\.Subscriber\.Name\s{0,9}-?\}\}/g, "{{ name }}"],
  [/\{\{-?\s{0,9}\.Subscriber\.FirstName\s{0,9}-?\}\}/g, '{{ name | split: " " | first }}'],
  [/\{\{-?\s{0,9}\.Subscriber\.LastName\s{0,9}-?\}\}/g, '{{ name | split: " " | last }}'],
  [
    /\{\{-?\s{0,9}\.(?:Subscriber\.Attribs|Tx\.Data)\.([A-Za-z_][\w.]{0,200})\s{0,9}-?\}\}/g,
    (name) => `{{ ${name} }}`,
  ],
  [/\{\{-?\s{0,9}UnsubscribeURL(?:\s{1,9}\.)?\s{0,9}-?\}\}/g, "{{ unsubscribeUrl }}"],
  [/\{\{-?\s{0,9}ManageURL(?:\s{1,9}\.)?\s{0,9}-?\}\}/g, "{{ manageUrl }}"],
  [/\{\{-?\s{0,9}TrackView(?:\s{1,9}\.)?\s{0,9}-?\}\}/g, ""],
  [/\{\{-?\s{0,9}TrackLink\s{1,9}"([^"{}]{1,2000})"\s{1,9}\.\s{0,9}-?\}\}/g, (url) => url],
  [/@TrackLink\b/g, ""],
  [/\{\{-?\s{0,9}L\.T\s{1,9}"email\.unsub"\s{0,9}-?\}\}/g, "Unsubscribe"],
];

const TABLES = { mailchimp: MAILCHIMP, listmonk: LISTMONK } as const;

export function convertTemplate(product: keyof typeof TABLES, source: string): string {
  return TABLES[product].reduce(
    (text, [pattern, liquid]) =>
      typeof liquid === "string"
        ? text.replaceAll(pattern, () => liquid)
        : text.replaceAll(pattern, (_, ...groups: string[]) => liquid(...groups)),
    source,
  );
}

const RESEND_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    RESEND_UNSUBSCRIBE_URL: "unsubscribeUrl",
    UNSUBSCRIBE_URL: "unsubscribeUrl",
    EMAIL: "email",
    "contact.email": "email",
    FIRST_NAME: "firstName",
    LAST_NAME: "lastName",
    "contact.first_name": "firstName",
    "contact.last_name": "lastName",
  }),
);

/**
 * Resend writes `{{{NAME}}}` and `{{{contact.first_name|there}}}`. A variable may have a fallback of its
 * own in `fallbacks`. Values are escaped here, as Resend does not.
 */
export function convertResendTemplate(
  source: string,
  fallbacks: ReadonlyMap<string, string>,
): string {
  return source.replaceAll(
    /\{\{\{\s{0,9}([A-Za-z_][\w.]{0,100})\s{0,9}(?:\|([^{}|]{0,200}))?\}\}\}/g,
    (_, key: string, given: string | undefined) => {
      const name = RESEND_NAMES.get(key) ?? key.replace(/^contact\./, "");
      const fallback = given?.trim() || fallbacks.get(key);
      const quoted =
        fallback === undefined ? "" : ` ?? '${fallback.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
      return `{{ ${name}${quoted} }}`;
    },
  );
}
