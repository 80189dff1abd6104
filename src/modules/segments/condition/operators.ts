/**
 * The table of operators: for each kind of field its operators, and for each operator the kind of
 * value that it takes and the SQL that defines its meaning (docs/interface.md#campaigns). All else
 * that concerns operators derives from this table: the check of a filter, its stored form, the
 * OpenAPI document, segments, audiences, and the CONDITION steps of workflows. Pure.
 *
 * A test that matches is true; one that does not match is false or NULL. AND and OR preserve this.
 */

import { storedAddress, storedSpellings } from "../../../protocols/mime/address.ts";
import { searchedAddress } from "../../../protocols/mime/mailbox.ts";
import { allOf, anyOf, bind, type Fragment } from "../sql/bind.ts";
import {
  compare,
  type Comparison,
  contains,
  type DataField,
  equals,
  exists,
  existsAndNot,
  fieldAt,
  isAnniversary,
  isDateBefore,
  isDateBetween,
  isListed,
  isMissing,
  isUnlike,
} from "../sql/data-fields.ts";
import { type Comparable, isIncomparable } from "./comparable.ts";
import {
  type Context,
  type RowSource,
  type FieldTest,
  type ComparedType,
  type TargetOf,
  type TestSql,
  type Operator,
  type OperatorOn,
  operator,
  readValue,
} from "./field-test.ts";
import type { Values } from "./input.ts";

type Email = TargetOf<"email">;

const addressIn = (text: string): string => storedAddress(searchedAddress(text));

function anySpelling(part: string, matches: (spelling: string) => Fragment): Fragment {
  return anyOf(storedSpellings(part).map(matches));
}

const EMAIL = {
  equals: operator<Email, "text">(
    "text",
    (_, value) => bind`contacts.email = ${addressIn(value)}`,
    (_, value, { projectSeq }) => ({
      from: bind`contacts AS addressed`,
      key: bind`addressed.seq`,
      stretch: bind`addressed.project_seq = ${projectSeq}
          AND addressed.email = ${addressIn(value)}`,
      filter: bind`1`,
    }),
  ),
  notEquals: operator<Email, "text">(
    "text",
    (_, value) => bind`contacts.email <> ${addressIn(value)}`,
  ),
  contains: operator<Email, "text">("text", (_, value) =>
    anySpelling(value, (part) => bind`instr(contacts.email, ${part}) > 0`),
  ),
  notContains: operator<Email, "text">("text", (_, value) =>
    allOf(storedSpellings(value).map((part) => bind`instr(contacts.email, ${part}) = 0`)),
  ),
  startsWith: operator<Email, "text">("text", (_, value) =>
    anySpelling(value, (part) => bind`substr(contacts.email, 1, length(${part})) = ${part}`),
  ),
  endsWith: operator<Email, "text">("text", (_, value) =>
    anySpelling(value, (part) =>
      part === "" ? bind`1` : bind`substr(contacts.email, -length(${part})) = ${part}`,
    ),
  ),
};

export const SUBSCRIBED = {
  equals: operator<TargetOf<"subscribed">, "flag">(
    "flag",
    (_, value) => bind`contacts.is_subscribed = ${Number(value)}`,
  ),
  notEquals: operator<TargetOf<"subscribed">, "flag">(
    "flag",
    (_, value) => bind`contacts.is_subscribed = ${Number(!value)}`,
  ),
};

type Time = TargetOf<"time">;

const COLUMNS = { createdAt: bind`contacts.created_at`, updatedAt: bind`contacts.updated_at` };

const ofPeriod = (sql: (column: Fragment, from: number, until: number) => Fragment) =>
  operator<Time, "period">("period", ({ column }, { fromMs, untilMs }) =>
    sql(COLUMNS[column], fromMs, untilMs),
  );
const ofSpan = (sql: (column: Fragment, startMs: number) => Fragment) =>
  operator<Time, "span">("span", ({ column }, spanMs, { now }) =>
    sql(COLUMNS[column], now - spanMs),
  );

const TIME = {
  equals: ofPeriod((at, from, until) => bind`(${at} >= ${from} AND ${at} < ${until})`),
  notEquals: ofPeriod((at, from, until) => bind`(${at} < ${from} OR ${at} >= ${until})`),
  greaterThan: ofPeriod((at, _, until) => bind`${at} >= ${until}`),
  greaterThanOrEqual: ofPeriod((at, from) => bind`${at} >= ${from}`),
  lessThan: ofPeriod((at, from) => bind`${at} < ${from}`),
  lessThanOrEqual: ofPeriod((at, _, until) => bind`${at} < ${until}`),
  within: ofSpan((at, start) => bind`${at} >= ${start}`),
  olderThan: ofSpan((at, start) => bind`${at} < ${start}`),
};

type Data = TargetOf<"data">;

/** A missing key and null match only `notExists`. `expected` is the type of values that can match. */
function ofData<K extends keyof Values>(
  takes: K,
  sql: TestSql<DataField, Values[K], Fragment>,
  expected: (value: Values[K]) => ComparedType["type"] | null = () => null,
): OperatorOn<Data, K> {
  const plain = operator<Data, K>(takes, ({ path }, value, context) =>
    sql(fieldAt(path), value, context),
  );
  const test = (target: Data, value: Values[K]): FieldTest => {
    const type = expected(value);
    const made = plain.test(target, value);
    if (type === null) return made;
    const { path } = target;
    return { ...made, expects: { type, path, unlike: isUnlike(fieldAt(path), type) } };
  };
  return {
    takes,
    test,
    read(target, input) {
      const value = readValue(input, takes);
      return value === null ? null : test(target, value);
    },
  };
}

function ofComparison(name: Comparison): Operator<Data> {
  const valid = ofData<"comparable">(
    "comparable",
    (field, value) => (isIncomparable(value) ? bind`0` : compare(field, value, name)),
    typeOf,
  );
  return {
    takes: "comparable",
    read(target, input) {
      const value = input.comparable();
      if (value === null) return null;
      const test = valid.test(target, value);
      return isIncomparable(value) ? { ...test, problem: value } : test;
    },
  };
}

function typeOf(value: Comparable): ComparedType["type"] | null {
  if (typeof value === "number") return "number";
  return isIncomparable(value) ? null : "date";
}

/** The day and month of a date are those of today in UTC, in any year. */
function ofAnniversary(): Operator<Data> {
  const dates = ofData<"nothing">(
    "nothing",
    (field, _, { now }) => isAnniversary(field, now),
    () => "date",
  );
  return {
    takes: "nothing",
    read: (target) => ({ ...dates.test(target, true), isRelative: true }),
  };
}

const DATA = {
  equals: ofData("scalar", equals),
  notEquals: ofData("scalar", (field, value) => existsAndNot(field, equals(field, value))),
  contains: ofData("part", contains),
  notContains: ofData("part", (field, value) => existsAndNot(field, contains(field, value))),
  greaterThan: ofComparison("greaterThan"),
  greaterThanOrEqual: ofComparison("greaterThanOrEqual"),
  lessThan: ofComparison("lessThan"),
  lessThanOrEqual: ofComparison("lessThanOrEqual"),
  exists: ofData("nothing", exists),
  notExists: ofData("nothing", isMissing),
  within: ofData(
    "span",
    (field, spanMs, { now }) => isDateBetween(field, now - spanMs, now),
    () => "date",
  ),
  olderThan: ofData(
    "span",
    (field, spanMs, { now }) => isDateBefore(field, now - spanMs),
    () => "date",
  ),
  anniversary: ofAnniversary(),
  in: ofData("list", isListed),
  notIn: ofData("list", (field, values) => existsAndNot(field, isListed(field, values))),
};

type Event = TargetOf<"event">;
/** SQL condition for a row of `contact_events AS history`, which has the time of the last event. */
type LastTime<K extends keyof Values> = (value: Values[K], now: number) => Fragment;

/** Matches contacts with such an event. */
function happened<K extends keyof Values>(takes: K, lastTime: LastTime<K>) {
  return operator<Event, K>(
    takes,
    ({ name }, value, context) => hasHistory(name, lastTime(value, context.now), context),
    ({ name }, value, context) => ({
      from: bind`contact_events AS history`,
      key: bind`history.contact_seq`,
      stretch: bind`history.name_seq = ${eventName(name, context)}`,
      filter: lastTime(value, context.now),
    }),
  );
}

/** Matches contacts without such an event. */
function neverHappened<K extends keyof Values>(takes: K, lastTime: LastTime<K>) {
  return operator<Event, K>(
    takes,
    ({ name }, value, context) =>
      bind`NOT ${hasHistory(name, lastTime(value, context.now), context)}`,
  );
}

function hasHistory(name: string, lastTime: Fragment, context: Context): Fragment {
  return bind`EXISTS (
    SELECT 1 FROM contact_events AS history
    WHERE history.name_seq = ${eventName(name, context)}
      AND history.contact_seq = contacts.seq AND ${lastTime})`;
}

function eventName(name: string, { projectSeq }: Context): Fragment {
  return bind`(
    SELECT event_names.seq FROM event_names
    WHERE event_names.project_seq = ${projectSeq} AND event_names.name = ${name})`;
}

/** Most events of a contact in which a property is looked for, newest first. */
const MAX_EVENTS = 1_000;

/**
 * SQL condition: one of the events of `history` has such data. Each event leads to the one before of the
 * same contact and name. The inner name `contacts` lets the tests of a contact's data read them.
 */
function hasEventWith(history: Fragment, test: Fragment): Fragment {
  return bind`EXISTS (
    WITH RECURSIVE chain (seq, number) AS (
      SELECT ${history}.last_seq, 1
      UNION ALL
      SELECT happened.previous_seq, chain.number + 1
      FROM chain CROSS JOIN events AS happened ON happened.seq = chain.seq
      WHERE happened.previous_seq IS NOT NULL AND chain.number < ${MAX_EVENTS})
    SELECT 1 FROM (
      SELECT coalesce(happened.data, '{}') AS data
      FROM chain CROSS JOIN events AS happened ON happened.seq = chain.seq) AS contacts
    WHERE ${test})`;
}

/** Matches contacts with an event whose data meet a test, as that of a contact's data. */
const triggeredWith: Operator<Event> = {
  takes: "nothing",
  read(target, input) {
    const path = input.property();
    const name = input.test(Object.keys(DATA));
    const inner = name === null ? undefined : Object.entries(DATA).find(([key]) => key === name);
    if (path === null || inner === undefined) return null;
    const test = inner[1].read({ kind: "data", path }, input);
    if (test === null) return null;
    const filter = (context: Context) => hasEventWith(bind`history`, test.where(context));
    return {
      kind: "field",
      target,
      takes: test.takes,
      isOfProperty: true,
      ...(test.isRelative === true ? { isRelative: true } : {}),
      where: (context) => hasHistory(target.name, filter(context), context),
      source: (context) => ({
        from: bind`contact_events AS history`,
        key: bind`history.contact_seq`,
        stretch: bind`history.name_seq = ${eventName(target.name, context)}`,
        filter: filter(context),
      }),
    };
  },
};

const anyTime = () => bind`1`;
const isRecent = (spanMs: number, now: number) => bind`history.last_at >= ${now - spanMs}`;
const isOld = (spanMs: number, now: number) => bind`history.last_at < ${now - spanMs}`;

const EVENT = {
  triggered: happened("nothing", anyTime),
  notTriggered: neverHappened("nothing", anyTime),
  triggeredWithin: happened("span", isRecent),
  notTriggeredWithin: neverHappened("span", isRecent),
  triggeredOlderThan: happened("span", isOld),
  triggeredAtLeast: happened("count", (count) => bind`history.count >= ${count}`),
  triggeredLessThan: neverHappened("count", (count) => bind`history.count >= ${count}`),
  triggeredWith,
};

type Mail = TargetOf<"mail">;
/** SQL condition for a row of `emails AS mail`. */
type MailCondition<K extends keyof Values> = (value: Values[K], now: number) => Fragment;

/** A server has accepted it, and it did not come back. */
const WAS_RECEIVED = bind`(mail.sent_at IS NOT NULL AND mail.bounced_at IS NULL)`;
// A click of a person counts as an open, too; those of machines do not count.
const WAS_OPENED = bind`mail.opened_at IS NOT NULL`;
const WAS_CLICKED = bind`mail.clicked_at IS NOT NULL`;

/** The rows of `emails AS mail` of a campaign or a template. */
function mailsOf({ of, id }: Mail, { projectSeq }: Context): { from: Fragment; where: Fragment } {
  if (of === "template") {
    // A template of another project has another id.
    return {
      from: bind`emails AS mail INDEXED BY emails_template`,
      where: bind`mail.template_id = ${id} AND mail.template_id IS NOT NULL
        AND mail.project_seq = ${projectSeq}`,
    };
  }
  return {
    from: bind`emails AS mail INDEXED BY emails_campaign_contact`,
    where: bind`mail.campaign_seq IS NOT NULL AND mail.campaign_seq = (
      SELECT campaigns.seq FROM campaigns
      WHERE campaigns.project_seq = ${projectSeq} AND campaigns.id = ${id})`,
  };
}

function hasMail(target: Mail, condition: Fragment, context: Context): Fragment {
  const { from, where } = mailsOf(target, context);
  return bind`EXISTS (
    SELECT 1 FROM ${from}
    WHERE ${where} AND mail.contact_seq = contacts.seq AND ${condition})`;
}

/** Matches contacts with such a mail. A contact has at most one mail of a campaign. */
function mailed<K extends keyof Values>(takes: K, condition: MailCondition<K>) {
  return operator<Mail, K>(
    takes,
    (target, value, context) => hasMail(target, condition(value, context.now), context),
    (target, value, context) =>
      target.of === "template"
        ? null
        : campaignMails(target, condition(value, context.now), context),
  );
}

/** The mails of a campaign: the index has one for each contact, in the order of contacts. */
function campaignMails(target: Mail, filter: Fragment, context: Context): RowSource {
  const { from, where } = mailsOf(target, context);
  const stretch = bind`${where} AND mail.contact_seq IS NOT NULL`;
  return { from, key: bind`mail.contact_seq`, stretch, filter };
}

/** Matches contacts who got such a mail, and for whom `condition` is true of none of these mails. */
function mailedBut(condition: Fragment) {
  return operator<Mail, "nothing">(
    "nothing",
    (target, _, context) => bind`(${hasMail(target, WAS_RECEIVED, context)}
      AND NOT ${hasMail(target, condition, context)})`,
    (target, _, context) =>
      target.of === "template"
        ? null
        : campaignMails(target, bind`(${WAS_RECEIVED} AND NOT (${condition}))`, context),
  );
}

const isSince = (column: Fragment, spanMs: number, now: number) =>
  bind`${column} >= ${now - spanMs}`;

const MAIL = {
  wasReceived: mailed("nothing", () => WAS_RECEIVED),
  wasNotReceived: operator<Mail, "nothing">(
    "nothing",
    (target, _, context) => bind`NOT ${hasMail(target, WAS_RECEIVED, context)}`,
  ),
  wasReceivedWithin: mailed(
    "span",
    (span, now) => bind`(${WAS_RECEIVED} AND ${isSince(bind`mail.sent_at`, span, now)})`,
  ),
  wasOpened: mailed("nothing", () => WAS_OPENED),
  wasNotOpened: mailedBut(WAS_OPENED),
  wasOpenedWithin: mailed("span", (span, now) => isSince(bind`mail.opened_at`, span, now)),
  wasClicked: mailed("nothing", () => WAS_CLICKED),
  wasNotClicked: mailedBut(WAS_CLICKED),
  wasClickedWithin: mailed("span", (span, now) => isSince(bind`mail.clicked_at`, span, now)),
};

type Link = TargetOf<"link">;
const CLICK = "email.clicked";

/** SQL condition: the contact has clicked the link in one of its mails. */
function hasClicked({ url }: Link, contact: Fragment, since: number): Fragment {
  return bind`EXISTS (
    SELECT 1 FROM emails AS mail INDEXED BY emails_contact
    CROSS JOIN events AS click INDEXED BY events_email
    WHERE mail.contact_seq = ${contact} AND mail.clicked_at IS NOT NULL
      AND click.email_seq = mail.seq AND click.name = ${CLICK} AND click.created_at >= ${since}
      AND json_extract(click.data, '$.url') = ${url})`;
}

/** Matches contacts who clicked the link; they are among the contacts who clicked any link. */
function clicked<K extends keyof Values>(
  takes: K,
  since: (value: Values[K], now: number) => number,
) {
  return operator<Link, K>(
    takes,
    (target, value, { now }) => hasClicked(target, bind`contacts.seq`, since(value, now)),
    (target, value, context) => ({
      from: bind`contact_events AS history`,
      key: bind`history.contact_seq`,
      stretch: bind`history.name_seq = ${eventName(CLICK, context)}`,
      filter: hasClicked(target, bind`history.contact_seq`, since(value, context.now)),
    }),
  );
}

const LINK = {
  wasClicked: clicked("nothing", () => 0),
  wasNotClicked: operator<Link, "nothing">(
    "nothing",
    (target) => bind`NOT ${hasClicked(target, bind`contacts.seq`, 0)}`,
  ),
  wasClickedWithin: clicked("span", (spanMs, now) => now - spanMs),
};

type Topic = TargetOf<"topic">;

/** True if a contact is in a topic, by its choice or the default; no contact is in an unknown one. */
const isInTopic = (isIn: (value: boolean) => boolean) =>
  operator<Topic, "flag">("flag", ({ key }, value, { projectSeq }) => {
    const topic = (column: Fragment) => bind`(SELECT ${column} FROM topics
      WHERE topics.project_seq = ${projectSeq} AND topics.key = ${key})`;
    return bind`coalesce(
      (SELECT chosen.is_subscribed FROM topic_subscriptions AS chosen
       WHERE chosen.topic_seq = ${topic(bind`topics.seq`)} AND chosen.contact_seq = contacts.seq),
      ${topic(bind`topics.default_state = 'SUBSCRIBED'`)}) = ${Number(isIn(value))}`;
  });

const TOPIC = { equals: isInTopic((value) => value), notEquals: isInTopic((value) => !value) };

/** Membership of a segment. references.ts resolves the segment, which defines the SQL. */
const SEGMENT = {
  memberOf: { takes: "nothing", isMember: true },
  notMemberOf: { takes: "nothing", isMember: false },
} as const;

/** The operators of each kind of field, in the order in which error messages name them. */
export const OPERATORS = {
  email: EMAIL,
  subscribed: SUBSCRIBED,
  time: TIME,
  data: DATA,
  event: EVENT,
  mail: MAIL,
  link: LINK,
  topic: TOPIC,
  segment: SEGMENT,
};

/** The names of all operators. */
export const OPERATOR_NAMES: readonly string[] = [
  ...new Set(Object.values(OPERATORS).flatMap((operators) => Object.keys(operators))),
];
