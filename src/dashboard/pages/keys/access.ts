/** The rights of a key in words: its kind and its scope are one choice. */

import type { ApiKey } from "../../../modules/keys.ts";

type Kind = ApiKey["kind"];
type Scope = NonNullable<ApiKey["scope"]>;

export const ACCESSES = [
  {
    value: "SEND",
    kind: "SECRET",
    scope: "SEND",
    word: "Send",
    label: "Send only",
    description: "For an application that sends mail, and does nothing else.",
  },
  {
    value: "SMTP",
    kind: "SMTP",
    scope: "SEND",
    word: "SMTP",
    label: "SMTP password",
    description: "For a program that sends over SMTP, such as WordPress.",
  },
  {
    value: "READ",
    kind: "SECRET",
    scope: "READ",
    word: "Read",
    label: "Read only",
    description: "For reports: what a viewer sees, and messages of inboxes.",
  },
  {
    value: "CONTACTS",
    kind: "SECRET",
    scope: "CONTACTS",
    word: "Contacts",
    label: "Contacts",
    description: "For a shop or CRM: contacts, segments and suppressions.",
  },
  {
    value: "EVERYTHING",
    kind: "SECRET",
    scope: "EVERYTHING",
    word: "Everything",
    label: "Everything",
    description: "For your own server: all that keys may do in this project.",
  },
  {
    value: "PUBLIC",
    kind: "PUBLIC",
    scope: null,
    word: "Public",
    label: "Public",
    description: "For web pages and apps: it only records events.",
  },
] as const satisfies readonly {
  value: string;
  kind: Kind;
  scope: Scope | null;
  word: string;
  label: string;
  description: string;
}[];

export type Access = (typeof ACCESSES)[number]["value"];

/** A short word for a list. */
export function accessWord({ kind, scope }: Pick<ApiKey, "kind" | "scope">): string {
  return ACCESSES.find((each) => each.kind === kind && each.scope === scope)?.word ?? kind;
}

/** The kind and the scope of a choice, as the interface takes them. */
export function kindAndScope(access: Access): { kind: Kind; scope?: Scope } {
  const found = ACCESSES.find(({ value }) => value === access);
  if (found === undefined) throw new Error(`no access ${access}`);
  const { kind, scope } = found;
  return kind === "SECRET" ? { kind, scope } : { kind };
}

export const isSending = (access: Access): boolean => access === "SEND" || access === "SMTP";

/** The requests of all days that are shown. */
export const requestsOf = ({ usage }: Pick<ApiKey, "usage">): number =>
  usage.reduce((sum, { requests }) => sum + requests, 0);
