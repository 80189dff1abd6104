/** Lets a year pass: executions and mails in the order of their times, then the event log. */

import type { Database } from "bun:sqlite";
import type { EmailStore } from "../../../src/outbox/enqueue.ts";
import { dropIndexes } from "../indexes.ts";
import { createRandom, type Random } from "../random.ts";
import { addUpCampaigns, type CampaignPlan, sendCampaign } from "./campaigns.ts";
import { cancelSome, insertExecutions } from "./execution-rows.ts";
import {
  type Execution,
  runWorkflows,
  type StoredWorkflow,
  type WorkflowMail,
} from "./executions.ts";
import { addUpHours } from "./hours.ts";
import { createJournal } from "./journal.ts";
import { insertContacts, insertSuppressions, makePeople, type Person } from "./people.ts";
import { createPost, type Post } from "./post.ts";
import type { Step } from "./progress.ts";
import { SITE } from "./template-texts.ts";
import {
  planTransactional,
  sendTransactional,
  type StoredTemplate,
  templateMail,
  valuesFor,
} from "./transactional.ts";
import { insertDeliveries } from "./webhooks.ts";

export type DemoSizes = {
  contacts: number;
  mails: number;
  /** All events together, at least. */
  events: number;
  inboxMessages: number;
};

export const DEMO_SCALES = {
  small: { contacts: 1_200, mails: 20_000, events: 90_000, inboxMessages: 120 },
  full: { contacts: 12_000, mails: 200_000, events: 900_000, inboxMessages: 440 },
  // 100,000 messages are in the first inbox.
  large: { contacts: 12_000, mails: 200_000, events: 900_000, inboxMessages: 100_055 },
  million: { contacts: 1_000_000, mails: 200_000, events: 10_000_000, inboxMessages: 440 },
} as const satisfies Record<string, DemoSizes>;

/** The rows that people entered before the year, as far as the year needs them. */
export type Parts = {
  store: Pick<EmailStore, "saveMessage">;
  templates: Map<string, StoredTemplate>;
  workflows: StoredWorkflow[];
  campaigns: CampaignPlan[];
};

const FULL = DEMO_SCALES.full;
/** Share of the mails that campaigns and workflows send. */
const OTHER_MAILS = 0.7;
const JOBS_PER_LOG = 25_000;
const TEST_BEFORE_MS = 40 * 60_000;

type Year = {
  sqlite: Database;
  parts: Parts;
  sizes: DemoSizes;
  untilMs: number;
  projectSeq: number;
  seed: number;
  log: (text: string) => void;
};

/** Work of one moment of the year. */
type Job = { at: number; run: () => void };

/** Lets a year pass: registrations, executions, mails, events. */
export async function simulate(year: Year, step: Step): Promise<void> {
  const { sqlite, parts, sizes, untilMs, projectSeq, seed, log } = year;
  const random = createRandom(seed);
  const scale = sizes.mails / FULL.mails;
  const people = makePeople(random, { count: sizes.contacts, untilMs });
  const journal = createJournal({ untilMs });
  const sample = Math.min(1, (FULL.contacts * scale) / sizes.contacts);
  const options = { random, journal, untilMs, people, scale, sample };
  const executions = runWorkflows(parts.workflows, options);
  cancelSome(executions, untilMs);
  const post = createPost({ sqlite, projectSeq, random, journal, untilMs });
  const jobs = [
    ...campaignJobs(year, { people, random, sample, post }),
    ...workflowJobs(executions, parts, { post, random }),
    ...transactionalJobs(year, { people, random, post }),
    ...testMails(parts, post),
  ].toSorted((a, b) => a.at - b.at);
  await step("  mails", () => runJobs(sqlite, jobs, (i) => log(`  ${i} of ${jobs.length} steps`)));
  const createIndexes = dropIndexes(sqlite, ["contacts", "events"]);
  await step("  contacts and executions", () => {
    insertContacts(sqlite, { projectSeq, people });
    insertSuppressions(sqlite, { projectSeq, people, untilMs });
    insertMembers(sqlite, people.length);
    insertExecutions(sqlite, { projectSeq, executions, random });
  });
  const tracked = Math.max(0, sizes.events - journal.size());
  await step("  events", () =>
    journal.write(sqlite, { projectSeq, people, random, untilMs, tracked, log }),
  );
  await step("  indexes", createIndexes);
  await step("  deliveries and statistics", () => {
    insertDeliveries(sqlite, { random, untilMs, scale });
    addUpCampaigns(sqlite, untilMs);
    addUpHours(sqlite);
  });
}

function runJobs(sqlite: Database, jobs: readonly Job[], log: (done: number) => void): void {
  sqlite.transaction(() => {
    for (const [i, { run }] of jobs.entries()) {
      run();
      if ((i + 1) % JOBS_PER_LOG === 0) log(i + 1);
    }
  })();
}

type Sending = { people: readonly Person[]; random: Random; post: Post };

function campaignJobs(year: Year, sending: Sending & { sample: number }): Job[] {
  const { sqlite, parts, projectSeq, untilMs } = year;
  const given = { ...sending, projectSeq, untilMs, store: parts.store };
  return parts.campaigns.flatMap((plan) => {
    const { startedAt } = plan;
    if (startedAt === null) return [];
    return [{ at: startedAt, run: () => sendCampaign(sqlite, plan, given) }];
  });
}

function workflowJobs(
  executions: readonly Execution[],
  { templates }: Parts,
  { post, random }: Omit<Sending, "people">,
): Job[] {
  return executions
    .flatMap(({ mails }) => mails)
    .map((mail) => {
      const template = templates.get(mail.template);
      if (template === undefined) throw new Error(`no template ${mail.template}`);
      return { at: mail.at, run: () => sendOfWorkflow(post, mail, template, random) };
    });
}

function transactionalJobs(
  { parts, sizes, untilMs }: Year,
  { people, random, post }: Sending,
): Job[] {
  const count = Math.round(sizes.mails * (1 - OTHER_MAILS));
  const given = { people, random, templates: parts.templates };
  return planTransactional(random, { count, untilMs }).map((plan) => ({
    at: plan.at,
    run: () => sendTransactional(post, plan, given),
  }));
}

function sendOfWorkflow(
  post: Post,
  { id, at, person, executionSeq, step }: WorkflowMail,
  template: StoredTemplate,
  random: Random,
): void {
  if (template.isMarketing && person.unsubscribedAt <= at) {
    step.outcome = "SKIPPED";
    step.detail = { reason: `${person.email} is not subscribed.` };
    return;
  }
  post.send({
    ...templateMail(template, person, valuesFor(person, random)),
    id,
    source: "WORKFLOW",
    executionSeq,
    createdAt: at,
    leavesAt: at + 200 + random.integer(2_000),
    links: [`${SITE}/new`, `${SITE}/club`],
  });
}

/** A test mail to the team before each campaign. */
function testMails({ campaigns, templates }: Parts, post: Post) {
  const messageSeq = templates.get("digest")?.messageSeq ?? 1;
  return campaigns.flatMap(({ startedAt, text }) => {
    if (startedAt === null) return [];
    const at = startedAt - TEST_BEFORE_MS;
    const run = () =>
      void post.send({
        person: null,
        to: "edith@harbourbooks.example",
        source: "TEST",
        isMarketing: false,
        messageSeq,
        templateId: null,
        campaignSeq: null,
        executionSeq: null,
        subject: `[Test] ${text.subject}`,
        variables: null,
        createdAt: at,
        leavesAt: at + 400,
        links: [],
      });
    return [{ at, run }];
  });
}

/** The members of the STATIC segments: every hundredth contact, and every two-hundredth. */
function insertMembers(sqlite: Database, contacts: number): void {
  const segments = sqlite
    .query<{ seq: number }, []>("SELECT seq FROM segments WHERE type = 'STATIC' ORDER BY seq")
    .all();
  for (const [i, { seq }] of segments.entries()) {
    const distance = 100 * (i + 1);
    sqlite
      .query(
        `INSERT INTO segment_members (segment_seq, contact_seq)
         SELECT ?, seq FROM contacts WHERE seq % ? = 1 AND seq <= ?`,
      )
      .run(seq, distance, Math.min(contacts, 20_000));
  }
}
