/** Finds the kinds of change that can alter the members of a condition. */

import type { Condition } from "./condition.ts";
import type { FieldTest } from "./field-test.ts";
import type { ResolvedTest } from "./references.ts";

type Dependencies = {
  /** True if time alone can alter them, as with `within 30 days`. */
  isRelative: boolean;
  /** Names of the events that can alter them. */
  eventNames: ReadonlySet<string>;
};

export function dependsOn(condition: Condition<ResolvedTest>): Dependencies {
  const tests = testsOf(condition);
  return {
    isRelative: tests.some(
      (test) => test.kind === "field" && (test.takes === "span" || test.isRelative === true),
    ),
    eventNames: new Set(
      tests.flatMap((test) => (test.kind === "field" ? eventsOf(test.target) : [])),
    ),
  };
}

/** The tests themselves, those in the conditions of other segments too. */
export const leafTests = (tests: readonly ResolvedTest[]): ResolvedTest[] =>
  tests.flatMap((test) => (test.kind === "condition" ? testsOf(test.condition) : [test]));

function testsOf({ groups }: Condition<ResolvedTest>): ResolvedTest[] {
  return groups.flatMap(({ filters, conditions }) => [
    ...leafTests(filters),
    ...(conditions === null ? [] : testsOf(conditions)),
  ]);
}

/** The events after which mails of a contact meet other tests. */
const MAIL_CHANGES = ["email.sent", "email.opened", "email.clicked", "email.bounced"];

/** A change of the default of a topic is found by the full refresh of every hour. */
const TOPIC_CHANGES = ["contact.topic_subscribed", "contact.topic_unsubscribed"];

function eventsOf(target: FieldTest["target"]): readonly string[] {
  if (target.kind === "event") return [target.name];
  if (target.kind === "topic") return TOPIC_CHANGES;
  return target.kind === "mail" || target.kind === "link" ? MAIL_CHANGES : [];
}
