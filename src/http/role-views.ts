/**
 * Limits the data in records and events to the parts that each role may see. Editors, admins, owners
 * and API keys see everything. Viewers must not see tokens that sign a user in or reset a password,
 * so for them:
 *
 * | data                                         | what viewers see                                 |
 * | -------------------------------------------- | ------------------------------------------------ |
 * | events of the service                        | the fields in `EVENT_FIELDS`, or all fields      |
 * | events of callers, data of contacts          | values that neither their name nor their form    |
 * |                                              | shows to be secret (`dataFor`)                   |
 * | conditions of segments, campaigns, workflows | the same, by the name of the compared field      |
 * | links in these values                        | without query, fragment, password and tokens     |
 * | context of executions                        | the names of its fields                          |
 * | steps, and details of their executions       | as data of contacts, and no answer of a server   |
 * | the URL of a webhook, and of WEBHOOK steps   | scheme and host                                  |
 * | headers and body of WEBHOOK steps            | the names of headers, and no body                |
 * | the request and the answer of a delivery     | the event as in `/events`, and no answer         |
 * | links that recipients of a campaign clicked  | as links in a value                              |
 * | mails and previews rendered for a contact    | with the data of the contact that they see       |
 * | the password of an inbox (keys that read)    | nothing                                          |
 *
 * Bodies of mails have a rule of their own (`mayReadBody`). lib/secret-names.ts knows the names of
 * secrets, and lib/secret-texts.ts their forms.
 */

import { plainHost, plainLink, plainPathOnly } from "../lib/plain-link.ts";
import { isNameOfIdentifier, isNameOfTime, isSecretName } from "../lib/secret-names.ts";
import { hasCredential, isTokenLike, saysSecret } from "../lib/secret-texts.ts";
import { isServiceEvent } from "../lib/service-events.ts";
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

/** Whether a role sees everything that a project has stored. */
export function seesSecrets(role: Role | null): boolean {
  return includesRole(role, "EDITOR");
}

/** The data of an event as a role sees it. */
export function eventDataFor(role: Role | null, name: string, data: Data | null): Data | null {
  if (data === null || seesSecrets(role)) return data;
  if (!isServiceEvent(name)) return dataFor(role, data);
  const fields = EVENT_FIELDS[name];
  const seen = Object.entries(data).filter(([key]) => fields === undefined || fields.includes(key));
  // The service chose the names, but not the links.
  const textOf = name.startsWith("webhook.") ? hostsIn : withoutTokens;
  return Object.fromEntries(seen.map(([key, value]) => [key, mapTexts(value, textOf)]));
}

/** Values of a contact or of another record, as a role sees them. */
export function dataFor(role: Role | null, data: Data): Data {
  if (seesSecrets(role)) return data;
  return objectFor(Object.entries(data), TOP);
}

/** The same for the JSON text of an object. */
export function jsonFor(role: Role | null, json: string): string {
  if (seesSecrets(role)) return json;
  const value: unknown = JSON.parse(json);
  return JSON.stringify(valueFor(value, TOP));
}

/** A condition on data, as a role sees it: it may be compared with a secret. */
export function conditionFor(role: Role | null, condition: unknown): unknown {
  return seesSecrets(role) ? condition : valueFor(condition, TOP);
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

/** A text that the service wrote, or a link, as a role sees it. */
export function textFor(role: Role | null, text: string): string {
  return seesSecrets(role) ? text : withoutTokens(text);
}

/** The URL of another service as a role sees it. Each part after the host may be a secret. */
export function hostFor(role: Role | null, url: string): string {
  return seesSecrets(role) ? url : plainHost(url);
}

/** The place of a value. `parent` is the name of the object that has it. */
type Place = {
  name: string;
  parent?: string;
  depth: number;
  /** True in a condition on a secret. */
  isCompared?: boolean;
};

const TOP: Place = { name: "", depth: 0 };
/** Deeper values are hidden. */
const MAX_DEPTH = 110;
/** A longer text is not read as JSON. */
const LONGEST_JSON = 100_000;
const ISO_TIME = /^\d{4}-\d{2}-\d{2}(?:[T ][\d:.+Z-]{4,18})?$/;

function fieldFor(value: unknown, place: Place): unknown {
  if (value === null || typeof value === "boolean") return value;
  if (isSecretName(place.name, place.parent) && !isTime(value, place.name)) return HIDDEN_VALUE;
  return valueFor(value, place);
}

function isTime(value: unknown, name: string): boolean {
  if (!isNameOfTime(name)) return false;
  return typeof value === "number"
    ? value > 1e9
    : typeof value === "string" && ISO_TIME.test(value);
}

function valueFor(value: unknown, place: Place): unknown {
  if (typeof value === "string") return stringFor(value, place);
  if (value === null || typeof value !== "object") return value;
  if (place.depth >= MAX_DEPTH) return HIDDEN_VALUE;
  if (Array.isArray(value)) return listFor(value, { ...place, depth: place.depth + 1 });
  return objectFor(Object.entries(value), place);
}

function objectFor(entries: readonly (readonly [string, unknown])[], place: Place): Data {
  const { name: parent } = place;
  const isCompared = place.isCompared === true || comparesSecret(entries);
  const nested = { depth: place.depth + 1, isCompared };
  const secret = isCompared || holdsNamedSecret(entries);
  return Object.fromEntries(
    entries.map(([key, each]) => {
      if (secret === null) return [key, fieldFor(each, { name: key, parent, ...nested })];
      if (isValueKey(key)) {
        return [key, secret ? HIDDEN_VALUE : valueFor(each, { name: parent, ...nested })];
      }
      if (NAMING.has(key)) return [key, valueFor(each, { name: "id", ...nested })];
      return [key, fieldFor(each, { name: key, parent, ...nested })];
    }),
  );
}

/** `["pin", 1234]` is a field as `{"pin": 1234}` is. */
function listFor(list: readonly unknown[], place: Place): unknown[] {
  const [first, second] = list;
  if (list.length === 2 && typeof first === "string" && isSecretName(first)) {
    return [first, fieldFor(second, { ...place, name: first })];
  }
  return list.map((each) => valueFor(each, place));
}

/**
 * `{"name": "pin", "value": 1234}` is a field as `{"pin": 1234}` is: whether it is secret. Null if the
 * object is none of this kind.
 */
function holdsNamedSecret(entries: readonly (readonly [string, unknown])[]): boolean | null {
  if (!entries.some(([key]) => isValueKey(key))) return null;
  const names = entries
    .filter(([key]) => NAMING.has(key))
    .map(([, each]) => each)
    .filter((each) => typeof each === "string");
  return names.length === 0 ? null : names.some((each) => isSecretName(lastOf(each)));
}

const NAMING: ReadonlySet<string> = new Set(
  "name key field label id type title property".split(" "),
);
const isValueKey = (key: string): boolean => /^(?:value|values|val|content|answer)$/i.test(key);
/** A condition compares the field with its own value, or with those of its branches. */
const comparesSecret = (entries: readonly (readonly [string, unknown])[]): boolean =>
  entries.some(
    ([key, each]) =>
      (key === "field" || key === "property") &&
      typeof each === "string" &&
      isSecretName(lastOf(each)),
  );

/** The last key of a path such as `data.user.pin`. */
const lastOf = (path: string): string => path.slice(path.lastIndexOf(".") + 1);

function stringFor(text: string, place: Place): string {
  const json = jsonIn(text);
  if (json !== null) return JSON.stringify(valueFor(json, { ...place, depth: place.depth + 1 }));
  const plain = withoutTokens(text);
  if (saysSecret(plain) || saysSecret(decoded(plain))) return HIDDEN_VALUE;
  if (isNameOfIdentifier(place.name)) return plain;
  return plain.replace(WORD, (word) => (isTokenLike(word) ? HIDDEN_VALUE : word));
}

/** The object or list in a JSON text; null if the text is none. */
function jsonIn(text: string): object | null {
  if (text.length > LONGEST_JSON || !/^\s*["[{]/.test(text)) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "string") return jsonIn(value);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

function decoded(text: string): string {
  if (!/%[0-9a-f]{2}/i.test(text)) return text;
  return text.replace(/(?:%[0-7][0-9a-f])+/gi, (run) => decodeURIComponent(run));
}

/** A word, also one with the signs of tokens in it. Links are no words. */
const WORD = /(?<![^\s"'<>()[\]{},;=|])(?![a-z][a-z0-9+.-]{1,19}:\/\/)[^\s"'<>()[\]{},;=|]{8,}/gi;

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, mapTexts(each, change)]),
  );
}

const LINK = /[a-z][a-z0-9+.-]{1,19}:\/\/[^\s"'<>]+/gi;
/** A query without the rest of a link, such as that of a path. */
const QUERY = /[?#&][^\s"'<>?#&=]{1,100}=[^\s"'<>]*/g;

/** A link without its scheme, or only its path. */
const PATH = /(?<![^\s"'<>()=])(?:(?:[\w-]{1,63}\.){1,10}[a-z]{2,24}(?::\d{1,5})?)?\/[^\s"'<>]+/gi;

const hostsIn = (text: string): string => text.replace(LINK, plainHost);

/**
 * A text without tokens that may sign in: those in its links, and credentials that their form
 * proves.
 */
function withoutTokens(text: string): string {
  const plain = text.replace(LINK, plainLink).replace(QUERY, "").replace(PATH, plainPathOnly);
  if (!hasCredential(plain)) return plain;
  return plain.includes("-----BEGIN ")
    ? HIDDEN_VALUE
    : plain.replace(/[^\s"'<>]+/g, (word) => (hasCredential(word) ? HIDDEN_VALUE : word));
}
