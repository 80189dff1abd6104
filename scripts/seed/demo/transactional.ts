/** The mails that the shop itself sends over the API: orders, parcels, passwords, codes. */

import type { Random } from "../random.ts";
import { countBefore, DAY_MS, type Person } from "./people.ts";
import type { Mail, Post } from "./post.ts";
import { SITE } from "./template-texts.ts";

/** A template as it is stored. */
export type StoredTemplate = {
  id: string;
  subject: string;
  messageSeq: number;
  isMarketing: boolean;
};

export type TransactionalPlan = {
  at: number;
  template: string;
  held?: "QUEUED";
  isDeferred?: boolean;
};

/** Keys of templates with their weights. */
const KINDS: readonly (readonly [template: string, weight: number])[] = [
  ["order", 22],
  ["shipped", 20],
  ["delivered", 12],
  ["signin", 15],
  ["reset", 8],
  ["verify", 6],
  ["invoice", 6],
  ["support", 3],
  ["refund", 2],
  ["payment", 2],
  ["stock", 2],
  ["pickup", 1],
  ["event", 1],
];
const YEAR_MS = 365 * DAY_MS;
const MINUTE = 60_000;
/** The states of the newest mails, from the newest one back. */
const NEWEST = ["QUEUED", "QUEUED", "DEFERRED", "DEFERRED"] as const;

/** When each mail is accepted, in their order. The newest ones have not left. */
export function planTransactional(
  random: Random,
  { count, untilMs }: { count: number; untilMs: number },
): TransactionalPlan[] {
  const byWeight = KINDS.flatMap(([template, weight]) => Array<string>(weight).fill(template));
  const plans = Array.from({ length: count }, (_, i): TransactionalPlan => {
    // The shop grows: the mails become more frequent during the year.
    const part = ((i + 0.5) / count) ** 0.8;
    const at = untilMs - YEAR_MS + Math.floor(part * (YEAR_MS - 5 * MINUTE));
    return { at, template: random.pick(byWeight) };
  });
  const special = Math.min(plans.length, Math.max(2 * NEWEST.length, Math.ceil(count / 800)));
  const latest = plans.length - special;
  for (const [i, plan] of plans.slice(latest).entries()) {
    const state = NEWEST[i % NEWEST.length] ?? "QUEUED";
    // The deferred ones were tried up to three times, a few minutes apart.
    plan.at = Math.max(plan.at, untilMs - 40 * MINUTE + Math.floor((i / special) * 15 * MINUTE));
    if (state === "DEFERRED") {
      plan.isDeferred = true;
    } else plan.held = state;
  }
  return plans.sort((a, b) => a.at - b.at);
}

export function sendTransactional(
  post: Post,
  plan: TransactionalPlan,
  {
    people,
    random,
    templates,
  }: {
    people: readonly Person[];
    random: Random;
    templates: ReadonlyMap<string, StoredTemplate>;
  },
): void {
  const registered = Math.max(1, countBefore(people, plan.at));
  const chosen = people[random.integer(registered)];
  // The shop seldom writes to an address that does not exist.
  const isUnknown = chosen !== undefined && chosen.suppressedAt <= plan.at;
  const person = isUnknown && random.integer(5) > 0 ? people[random.integer(registered)] : chosen;
  const template = templates.get(plan.template);
  if (person === undefined || template === undefined) throw new Error("nothing to send");
  const values = valuesFor(person, random);
  const { at, template: _, ...state } = plan;
  post.send({
    ...templateMail(template, person, values),
    source: "TRANSACTIONAL",
    executionSeq: null,
    createdAt: at,
    leavesAt: at + 150 + random.integer(1_500),
    links: [`${SITE}/orders/${values.order}`],
    ...state,
  });
}

export type Values = { name: string; order: string; total: string; code: string };

export function valuesFor(person: Person, random: Random): Values {
  return {
    name: person.name,
    order: `HB-${100_000 + random.integer(900_000)}`,
    total: `£${(4 + random.integer(9_000) / 100).toFixed(2)}`,
    code: String(100_000 + random.integer(900_000)),
  };
}

/** The members of a mail that come from its template and its recipient. */
export function templateMail(template: StoredTemplate, person: Person, values: Values) {
  const subject = template.subject
    .replaceAll("{{ name ?? reader }}", values.name)
    .replaceAll(/\{\{ (order|total|code) \}\}/g, (_, key: keyof Values) => values[key]);
  return {
    person,
    to: person.email,
    isMarketing: template.isMarketing,
    messageSeq: template.messageSeq,
    templateId: template.id,
    campaignSeq: null,
    subject,
    variables: JSON.stringify(values),
  } satisfies Partial<Mail>;
}
