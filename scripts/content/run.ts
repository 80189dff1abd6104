/**
 * Sends campaigns and stored templates through the program to an SMTP server in this process, and
 * compares each message that arrives with the ordinary rendering of its template and contact.
 */

import { Type } from "@sinclair/typebox";
import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Sink, startSink } from "../../test/support/smtp-sink.ts";
import { type Api, createApi } from "../bench/api.ts";
import { relayTo, type Server, startServer } from "../bench/children.ts";
import { openReader } from "../bench/store.ts";
import { differencesOf, isLetter } from "./compare.ts";
import {
  composeExpected,
  type Expected,
  keysOf,
  type MailContent,
  senderOf,
  URLS,
} from "./expected.ts";
import { type PreparedContent, type PreparedProject, prepareContent } from "./store.ts";
import { type ContentTemplate, TEMPLATES } from "./templates.ts";

const WAIT_LIMIT_MS = 10 * 60_000;
const POLL_MS = 50;

export type ContentReport = {
  /** The number of recipients of each campaign. */
  contacts: number;
  templates: { name: string; mails: number; equal: number; letters: number; refused: number }[];
  /** Descriptions of mails that are not as expected. */
  faults: string[];
  /** All messages that arrived. */
  messages: Uint8Array[];
  /** DKIM records by name. */
  records: ReadonlyMap<string, string>;
};

/**
 * `contacts` is the number of recipients of each campaign, `sends` that of each stored template. Only
 * one of `every` templates is used.
 */
export async function runContent(options: {
  data: string;
  binary: string | null;
  contacts: number;
  sends: number;
  every?: number;
  seed: number;
}): Promise<ContentReport> {
  const { data, binary, contacts, sends, every = 1, seed } = options;
  const templates = TEMPLATES.filter((_, number) => number % every === 0);
  const prepared = await prepareContent(data, { contacts, seed });
  const sink = await startSink();
  const urls = ["--url", URLS.url, "--tracking-url", URLS.trackingUrl];
  const server = await startServer({ binary, data, args: [...relayTo(sink.port, 0), ...urls] });
  const load = { server, prepared, templates };
  await sendCampaigns(load);
  // The mails of a template store names of contacts, with which campaigns would be rendered from then on.
  await waitUntilSent(data, contacts * templates.length);
  const accepted = await sendTemplates(load, sends);
  await waitUntilSent(data, contacts * templates.length);
  const exitCode = await server.stop();
  await sink.close();
  if (exitCode !== 0) throw new Error(`the server exited with code ${exitCode}`);
  return { contacts, ...(await compareAll({ data, prepared, accepted, sink, templates })) };
}

const projectOf = ({ projects }: PreparedContent, template: number): PreparedProject => {
  const project = projects[template % projects.length];
  if (project === undefined) throw new Error("there is no project");
  return project;
};

const Created = Type.Object({ data: Type.Object({ id: Type.String() }) });

type ContentLoad = {
  server: Server;
  prepared: PreparedContent;
  templates: readonly ContentTemplate[];
};

async function sendCampaigns({ server, prepared, templates }: ContentLoad): Promise<void> {
  for (const [number, { subject, body, replyTo }] of templates.entries()) {
    const project = projectOf(prepared, number);
    const api = createApi(server, project.key);
    const { data: campaign } = await api.read(Created, "POST", "/campaigns", {
      name: String(number),
      subject,
      body,
      replyTo,
      from: senderOf(project),
      fromName: project.fromName,
      audienceType: "ALL",
    });
    await api.send("POST", `/campaigns/${campaign.id}/send`);
  }
}

/** The template and its type of the mails that POST /v1/send accepted, by id, and the refused ones. */
type Accepted = {
  byId: Map<string, { template: number; isMarketing: boolean }>;
  refused: { template: number; contact: number; isMarketing: boolean }[];
};

async function sendTemplates(
  { server, prepared, templates }: ContentLoad,
  sends: number,
): Promise<Accepted> {
  const accepted: Accepted = { byId: new Map(), refused: [] };
  for (const [number, template] of templates.entries()) {
    const project = projectOf(prepared, number);
    const api = createApi(server, project.key);
    const isMarketing = number % 2 === 0;
    const id = await createTemplate(api, project, { template, isMarketing });
    for (const [contact, { email, displayName }] of project.contacts.slice(0, sends).entries()) {
      const to = displayName === null ? email : { email, name: displayName };
      const response = await api.request("POST", "/v1/send", { to, template: id });
      const text = await response.text();
      if (response.status === 422)
        accepted.refused.push({ template: number, contact, isMarketing });
      else accepted.byId.set(emailIdOf(text), { template: number, isMarketing });
    }
  }
  return accepted;
}

async function createTemplate(
  api: Api,
  project: PreparedProject,
  { template, isMarketing }: { template: ContentTemplate; isMarketing: boolean },
): Promise<string> {
  const { name, subject, body, replyTo } = template;
  const created = await api.read(Created, "POST", "/templates", {
    name,
    subject,
    body,
    replyTo,
    from: senderOf(project),
    fromName: project.fromName,
    type: isMarketing ? "MARKETING" : "TRANSACTIONAL",
  });
  return created.data.id;
}

function emailIdOf(answer: string): string {
  const [, id] = /"email":"([0-9a-f-]{36})"/.exec(answer) ?? [];
  if (id === undefined) throw new Error(answer);
  return id;
}

type Row = {
  id: string;
  projectSeq: number;
  contactId: string;
  campaign: string | null;
  createdAt: number;
  messageSeq: number;
  status: string;
};

function readRows(data: string): Row[] {
  const sqlite = new Database(join(data, "mailstead.db"), { readonly: true });
  const rows = sqlite
    .query<Row, []>(
      `SELECT e.id, e.project_seq AS projectSeq, c.id AS contactId, ca.name AS campaign,
              e.created_at AS createdAt, e.message_seq AS messageSeq, e.status
       FROM emails e JOIN contacts c ON c.seq = e.contact_seq
       LEFT JOIN campaigns ca ON ca.seq = e.campaign_seq ORDER BY e.seq`,
    )
    .all();
  sqlite.close();
  return rows;
}

async function compareAll(found: {
  data: string;
  prepared: PreparedContent;
  accepted: Accepted;
  sink: Sink;
  templates: readonly ContentTemplate[];
}): Promise<Omit<ContentReport, "contacts">> {
  const { data, prepared, accepted, sink, templates } = found;
  const keys = keysOf(readFileSync(join(data, "secret"), "utf8").trim());
  const arrivals = Map.groupBy(sink.messages, (message) => idOf(message.data));
  const report: Omit<ContentReport, "contacts"> = {
    templates: templates.map(({ name }) => ({
      name,
      mails: 0,
      equal: 0,
      letters: 0,
      refused: 0,
    })),
    faults: [],
    messages: sink.messages.map((message) => message.data),
    records: prepared.records,
  };

  function contentOf(row: Row, template: number): MailContent {
    const project = prepared.projects.find(({ seq }) => seq === row.projectSeq);
    const contact = project?.contacts.find(({ id }) => id === row.contactId);
    const source = templates[template];
    if (project === undefined || contact === undefined || source === undefined) {
      throw new Error(`the mail ${row.id} has no content`);
    }
    return { project, contact, template: source };
  }

  for (const row of readRows(data)) {
    const sent = accepted.byId.get(row.id);
    const template = row.campaign === null ? sent?.template : Number(row.campaign);
    const line = report.templates[template ?? -1];
    if (template === undefined || line === undefined) {
      report.faults.push(`the mail ${row.id} was not sent by this script`);
      continue;
    }
    const content = contentOf(row, template);
    const facts = {
      emailId: row.id,
      acceptedAt: row.createdAt,
      messageSeq: row.messageSeq,
      isMarketing: row.campaign !== null || sent?.isMarketing === true,
      displayName: row.campaign === null ? content.contact.displayName : null,
    };
    const expected = composeExpected(facts, content, keys);
    line.mails++;
    if (!expected.ok) line.refused++;
    const differences = await faultsOf(row, expected, arrivals.get(row.id) ?? []);
    if (differences.length === 0) line.equal++;
    else report.faults.push(`${line.name}, ${row.id}: ${differences.join(", ")}`);
    const [arrived] = arrivals.get(row.id) ?? [];
    const message = Buffer.from(arrived?.data ?? []).toString("latin1");
    if (arrived !== undefined && expected.ok && isLetter(message, expected.message)) line.letters++;
  }
  report.faults.push(...unexpectedRefusals({ accepted, prepared, keys, templates }));
  return report;
}

/** A mail that cannot be rendered fails; every other one arrives once. */
async function faultsOf(
  row: Row,
  expected: Expected,
  arrivals: readonly { data: Uint8Array }[],
): Promise<string[]> {
  if (!expected.ok) {
    const isRight = row.status === "FAILED" && arrivals.length === 0;
    return isRight ? [] : [`${row.status} instead of FAILED: ${expected.reason}`];
  }
  const [first] = arrivals;
  if (first === undefined || arrivals.length > 1 || row.status !== "SENT") {
    return [`${row.status}, arrived ${arrivals.length} times`];
  }
  return differencesOf(first.data, expected);
}

/** POST /v1/send may refuse only mails that cannot be rendered. */
function unexpectedRefusals(found: {
  accepted: Accepted;
  prepared: PreparedContent;
  keys: ReturnType<typeof keysOf>;
  templates: readonly ContentTemplate[];
}): string[] {
  const { accepted, prepared, keys, templates } = found;
  return accepted.refused.flatMap(({ template: number, contact: at, isMarketing }) => {
    const project = projectOf(prepared, number);
    const [template, contact] = [templates[number], project.contacts[at]];
    if (template === undefined || contact === undefined) throw new Error("there is no such mail");
    const { displayName } = contact;
    const emailId = "00000000-0000-7000-8000-000000000000";
    const facts = { emailId, acceptedAt: 0, messageSeq: 0, isMarketing, displayName };
    const expected = composeExpected(facts, { project, contact, template }, keys);
    return expected.ok ? [`${template.name}: a mail to ${contact.email} was refused`] : [];
  });
}

function idOf(message: Uint8Array): string {
  const head = Buffer.from(message).toString("latin1");
  return /^Message-ID: <([^>@]+)@/im.exec(head)?.[1] ?? "";
}

/** Waits until the campaigns have as many mails as that, and none of all mails is open. */
async function waitUntilSent(data: string, campaignMails: number): Promise<void> {
  const reader = openReader(data);
  const deadline = performance.now() + WAIT_LIMIT_MS;
  const missing = () =>
    campaignMails - reader.count("emails WHERE campaign_seq IS NOT NULL AND next_at IS NULL");
  const open = () => reader.count("emails WHERE next_at IS NOT NULL");
  while (missing() > 0 || open() > 0) {
    if (performance.now() > deadline) throw new Error(`${missing()} missing, ${open()} open`);
    await Bun.sleep(POLL_MS);
  }
  reader.close();
}
