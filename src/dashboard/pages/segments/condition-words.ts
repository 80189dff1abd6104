/** A condition in words: the tests of a segment as sentences, joined by "all" and "any". */

import { isRecord } from "../../ui/is-record.ts";

/** `subject` and `value` are shown as they are; `verb` is between them. */
export type TestWords = { kind: "TEST"; subject: string; verb: string; value: string };
export type WordsNode = TestWords | { kind: "ALL" | "ANY"; parts: WordsNode[] };

/** The name of a segment, a campaign or a template by its id. */
type NameOf = (id: string) => string | undefined;

/** The server allows ten levels. */
const MAX_DEPTH = 10;

export function wordsOfCondition(condition: unknown, nameOf: NameOf): WordsNode {
  return simplified(readCondition(condition, nameOf, 1));
}

function readCondition(given: unknown, nameOf: NameOf, depth: number): WordsNode {
  const groups = isRecord(given) && Array.isArray(given["groups"]) ? given["groups"] : [];
  const kind = isRecord(given) && given["logic"] === "OR" ? "ANY" : "ALL";
  return { kind, parts: groups.map((group: unknown) => readGroup(group, nameOf, depth)) };
}

function readGroup(given: unknown, nameOf: NameOf, depth: number): WordsNode {
  if (!isRecord(given)) return { kind: "ALL", parts: [] };
  const filters = Array.isArray(given["filters"]) ? given["filters"] : [];
  const nested = given["conditions"] ?? null;
  const parts: WordsNode[] = filters.map((filter: unknown) => readTest(filter, nameOf));
  if (nested !== null && depth < MAX_DEPTH) parts.push(readCondition(nested, nameOf, depth + 1));
  return { kind: "ALL", parts };
}

/** A part that is alone needs no list, and "all" within "all" needs no list of its own. */
function simplified(node: WordsNode): WordsNode {
  if (node.kind === "TEST") return node;
  const parts = node.parts.map(simplified).flatMap((part) => {
    const isSame = part.kind !== "TEST" && part.kind === node.kind;
    return isSame ? part.parts : [part];
  });
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : { kind: node.kind, parts };
}

type Filter = {
  field: string;
  operator: string;
  /** A key in the data of an event, and the operator for its value. */
  property: string;
  test: string;
  value: unknown;
  unit: string;
};

function readTest(given: unknown, nameOf: NameOf): WordsNode {
  const { field, operator, property, test, value, unit } = isRecord(given) ? given : {};
  const filter = {
    field: textOf(field),
    operator: textOf(operator),
    property: textOf(property),
    test: textOf(test),
    value,
    unit: textOf(unit),
  };
  return { kind: "TEST", ...wordsOfTest(filter, nameOf) };
}

type Words = Omit<TestWords, "kind">;

function wordsOfTest(filter: Filter, nameOf: NameOf): Words {
  const { field, value } = filter;
  if (field === "subscribed") {
    const isYes = (value === true) === (filter.operator === "equals");
    return { subject: "Contact", verb: isYes ? "is subscribed" : "is not subscribed", value: "" };
  }
  if (field === "email") return worded("Address", VALUE_VERBS, filter);
  if (field === "createdAt") return worded("Created", TIME_VERBS, filter);
  if (field === "updatedAt") return worded("Changed", TIME_VERBS, filter);
  const dot = field.indexOf(".");
  const rest = field.slice(dot + 1);
  switch (field.slice(0, Math.max(dot, 0))) {
    case "data":
      return worded(rest, VALUE_VERBS, filter);
    case "event":
      return withProperty(worded(`Event ${rest}`, EVENT_VERBS, filter), filter);
    case "email": {
      const { subject, value: span, verb } = worded("A mail", MAIL_VERBS, filter);
      const done = { subject, verb: verb.replace("DONE", MAIL_WORDS[rest] ?? rest), value: span };
      return withProperty(done, filter);
    }
    case "segment": {
      const verb =
        filter.operator === "notMemberOf" ? "is not in the segment" : "is in the segment";
      return { subject: "Contact", verb, value: nameOf(rest) ?? rest };
    }
    case "topic": {
      const isIn = (value === true) === (filter.operator === "equals");
      return {
        subject: "Contact",
        verb: isIn ? "is in the topic" : "is not in the topic",
        value: rest,
      };
    }
    case "campaign":
    case "template": {
      const kind = field.startsWith("campaign") ? "Campaign" : "Mail from the template";
      return worded(`${kind} ${nameOf(rest) ?? rest}`, REACTION_VERBS, filter);
    }
    case "link":
      return worded(`Link ${shownValue(rest)}`, LINK_VERBS, filter);
    default:
      return worded(field, {}, filter);
  }
}

/** N stands for the value with its unit, such as "30 days"; without N the value follows the verb. */
type Verbs = Readonly<Record<string, string>>;

const VALUE_VERBS: Verbs = {
  equals: "is",
  notEquals: "is not",
  contains: "contains",
  notContains: "does not contain",
  startsWith: "begins with",
  endsWith: "ends with",
  greaterThan: "is more than",
  greaterThanOrEqual: "is at least",
  lessThan: "is less than",
  lessThanOrEqual: "is at most",
  exists: "has a value",
  notExists: "has no value",
  in: "is one of",
  notIn: "is none of",
  within: "is a date in the last N",
  olderThan: "is a date more than N ago",
  anniversary: "is a date with today's day and month",
};

const TIME_VERBS: Verbs = {
  equals: "on",
  notEquals: "not on",
  greaterThan: "after",
  greaterThanOrEqual: "on or after",
  lessThan: "before",
  lessThanOrEqual: "on or before",
  within: "in the last N",
  olderThan: "more than N ago",
};

const EVENT_VERBS: Verbs = {
  triggered: "happened",
  notTriggered: "never happened",
  triggeredWithin: "happened in the last N",
  notTriggeredWithin: "did not happen in the last N",
  triggeredOlderThan: "happened last more than N ago",
  triggeredAtLeast: "happened at least N times",
  triggeredLessThan: "happened less than N times",
  triggeredWith: "happened with",
};

/** The words for the actions of contacts with the mails of a campaign or a template. */
const REACTION_VERBS: Verbs = {
  wasReceived: "was received",
  wasNotReceived: "was not received",
  wasReceivedWithin: "was received in the last N",
  wasOpened: "was opened",
  wasNotOpened: "was received, but not opened",
  wasOpenedWithin: "was opened in the last N",
  wasClicked: "was clicked",
  wasNotClicked: "was received, but not clicked",
  wasClickedWithin: "was clicked in the last N",
};
const LINK_VERBS: Verbs = { ...REACTION_VERBS, wasNotClicked: "was not clicked" };

/** DONE stands for the verb of the action, such as opened. */
const MAIL_VERBS: Verbs = {
  triggered: "was DONE",
  notTriggered: "was never DONE",
  triggeredWithin: "was DONE in the last N",
  notTriggeredWithin: "was not DONE in the last N",
  triggeredOlderThan: "was last DONE more than N ago",
  triggeredAtLeast: "was DONE at least N times",
  triggeredLessThan: "was DONE less than N times",
  triggeredWith: "was DONE with",
};

const MAIL_WORDS: Verbs = {
  bounced: "returned as undeliverable",
  complained: "reported as spam",
};

function worded(subject: string, verbs: Verbs, { operator, value, unit }: Filter): Words {
  const verb = Object.hasOwn(verbs, operator) ? (verbs[operator] ?? operator) : operator;
  const isSpan = /\bN\b/.test(verb);
  if (isSpan) {
    const amount = value === 1 ? `1 ${unit.replace(/s$/, "")}` : `${shownValue(value)} ${unit}`;
    return { subject, verb: verb.replace(/\bN\b/, amount.trim()), value: "" };
  }
  return { subject, verb, value: value === undefined ? "" : shownValue(value) };
}

/** The words of an event, with those of the test of its property if the filter has one. */
function withProperty(event: Words, filter: Filter): Words {
  if (filter.property === "") return event;
  const { verb, value } = worded("", VALUE_VERBS, { ...filter, operator: filter.test });
  return { ...event, verb: `${event.verb} ${filter.property} that ${verb}`, value };
}

/** Values of a list that are shown. */
const MAX_VALUES = 20;
const MAX_CHARACTERS = 300;

function shownValue(value: unknown): string {
  if (Array.isArray(value)) {
    const shown = value.slice(0, MAX_VALUES).map(shownValue).join(", ");
    return value.length > MAX_VALUES ? `${shown} and ${value.length - MAX_VALUES} more` : shown;
  }
  if (typeof value === "boolean") return value ? "yes" : "no";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text === "") return "an empty text";
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
