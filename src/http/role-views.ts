/**
 * What each role sees of the data in records and events. Editors, admins, owners and API keys see
 * everything. Viewers must not see what signs somebody in or resets a password, so for them:
 *
 * | data                                          | what viewers see                               |
 * | --------------------------------------------- | ---------------------------------------------- |
 * | events of the service                         | the fields in `EVENT_FIELDS`, or all fields    |
 * | events of callers, data of contacts           | all fields                                     |
 * | links in these values                         | without query, fragment, password and tokens   |
 * | fields whose names say that they are secret   | their names                                    |
 * | context of executions                         | the names of its fields                        |
 * | details of steps of executions                | as data of contacts, and no answer of a server |
 * | the URL of a webhook, and of WEBHOOK steps    | as a link in a value                           |
 * | headers and body of WEBHOOK steps             | the names of headers, and no body              |
 * | the request and the answer of a delivery      | the event as in `/events`, and no answer       |
 * | links that recipients of a campaign clicked   | as links in a value                            |
 * | rendered previews for a contact               | with the data of the contact that they see     |
 *
 * Bodies of mails have a rule of their own (`mayReadBody`).
 */

import { isTokenLike } from "../lib/token-like.ts";
import { includesRole, type Role } from "./roles.ts";

type Data = Record<string, unknown>;

/** A value that a role may not see. */
export const HIDDEN_VALUE = "(hidden)";

/** The fields of an event that viewers see, where they do not see all of them. */
const EVENT_FIELDS: Readonly<Record<string, readonly string[]>> = {
  // As GET /received-mails, which viewers may not read, the event has the content of the mail.
  "email.received": [
    "id",
    "from",
    "fromName",
    "to",
    "isAutomatic",
    "spf",
    "dkim",
    "dmarc",
    "arc",
    "inReplyTo",
  ],
};

const SECRET_NAME =
  /token|secret|passw(?:or)?d|passcode|credential|api_?key|(?:^|[_-])otp(?:$|[_-])/i;

/** Whether a role sees everything that a project has stored. */
export function seesSecrets(role: Role | null): boolean {
  return includesRole(role, "EDITOR");
}

/** The data of an event as a role sees it. */
export function eventDataFor(role: Role | null, name: string, data: Data | null): Data | null {
  if (data === null || seesSecrets(role)) return data;
  const fields = EVENT_FIELDS[name];
  const seen = Object.entries(data).filter(([key]) => fields === undefined || fields.includes(key));
  return dataFor(role, Object.fromEntries(seen));
}

/** Values of a contact or of another record, as a role sees them. */
export function dataFor(role: Role | null, data: Data): Data {
  if (seesSecrets(role)) return data;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, fieldFor(key, value)]),
  );
}

/** The details of a completed step of a workflow as a role sees them. */
export function stepDetailFor(role: Role | null, detail: Data | null): Data | null {
  if (detail === null || seesSecrets(role)) return detail;
  // A server may repeat the request in the answer to a WEBHOOK step.
  return dataFor(role, "body" in detail ? { ...detail, body: HIDDEN_VALUE } : detail);
}

/** The same data with the names of its fields only, for a role that may not see the values. */
export function namesFor(role: Role | null, data: Data): Data {
  if (seesSecrets(role)) return data;
  return Object.fromEntries(Object.keys(data).map((key) => [key, HIDDEN_VALUE]));
}

/** A text, such as a URL, as a role sees it. */
export function textFor(role: Role | null, text: string): string {
  return seesSecrets(role) ? text : withoutTokens(text);
}

function fieldFor(name: string, value: unknown): unknown {
  return SECRET_NAME.test(name) && value !== null ? HIDDEN_VALUE : valueFor(value);
}

function valueFor(value: unknown): unknown {
  if (typeof value === "string") return withoutTokens(value);
  if (Array.isArray(value)) return value.map(valueFor);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fieldFor(key, each)]));
}

const LINK = /[a-z][a-z0-9+.-]{1,19}:\/\/[^\s"'<>]+/gi;
/** A query without the rest of a link, such as that of a path. */
const QUERY = /[?#&][^\s"'<>?#&=]{1,100}=[^\s"'<>]*/g;

/** Links without what may sign in: their query, fragment, password, and tokens in their path. */
function withoutTokens(text: string): string {
  return text.replace(LINK, plainLink).replace(QUERY, "");
}

function plainLink(link: string): string {
  const [plain = ""] = link.split(/[?#]/, 1);
  const [scheme = "", , host = "", ...path] = plain.split("/");
  const segments = path.map((segment) => (isTokenLike(segment) ? "…" : segment));
  return [scheme, "", host.slice(host.lastIndexOf("@") + 1), ...segments].join("/");
}
