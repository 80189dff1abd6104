/**
 * The rehearsal of a campaign: it is rendered for contacts of its audience whose data differ, the
 * messages are stored in the project's inbox `rehearsal`, and each is checked. Nothing leaves with
 * any transport: the messages have no record, so nothing counts, tracks or suppresses, and their
 * links belong to no mail and change nothing.
 */

import { eq, inArray } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { contacts } from "../../db/schema/contacts.ts";
import { projects } from "../../db/schema/projects.ts";
import type { Project } from "../../http/admission.ts";
import { dataFor } from "../../http/role-views.ts";
import type { Role } from "../../http/roles.ts";
import { AppError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { senderOfProject } from "../../lib/message-senders.ts";
import type { Prepared } from "../../outbox/compose/prepare.ts";
import type { LeasedMail } from "../../outbox/lane/rows.ts";
import type { Busy } from "../../outbox/outcome.ts";
import { listLabel } from "../../render/list-headers.ts";
import { parseData } from "../contacts/data.ts";
import { checkContent, findPlaceholders } from "../content-work/content-work.ts";
import { localEnvelope } from "../inboxes/envelope.ts";
import { REHEARSAL_INBOX } from "../inboxes/service.ts";
import { topicBySeq } from "../topics/choices.ts";
import { renderSubject } from "../previews.ts";
import { sharedMessage } from "./message.ts";
import type { CampaignRow } from "./present.ts";
import { type Chosen, chooseSample } from "./rehearsal-sample.ts";
import type { Rehearsal, RehearsalVariant } from "./rehearsal-model.ts";
import { requireComplete } from "./sending-rules.ts";
import { mailComposer } from "../composer.ts";
import { inboxService } from "../inboxes/service.ts";
import { mailParser } from "../inboxes/parsing/parser.ts";
import { messageIntake } from "../inboxes/messages/intake.ts";
import { inboxRetention } from "../inboxes/retention.ts";
import { campaignAudience } from "./audience.ts";

/** Variants that are rendered and checked at the same time. */
const AT_ONCE = 4;
/** Messages of earlier rehearsals that stay in the inbox. */
const MAX_KEPT = 200;

type Contact = {
  seq: number;
  id: string;
  email: string;
  json: string;
  data: ReturnType<typeof parseData>;
};

export function createRehearsal(app: App) {
  const { db, clock, writer } = app;
  const audience = campaignAudience(app);
  const inboxes = inboxService(app);

  /** Contacts who would get the campaign, the oldest one first. */
  async function candidates(campaign: CampaignRow): Promise<Contact[]> {
    const seqs = await audience.sample(campaign);
    return db
      .select()
      .from(contacts)
      .where(inArray(contacts.seq, seqs))
      .all()
      .toSorted((a, b) => a.seq - b.seq)
      .map(({ seq, id, email, data }) => ({ seq, id, email, json: data, data: parseData(data) }));
  }

  async function inboxOf(projectSeq: number): Promise<{ seq: number; id: string }> {
    const find = () => inboxes.find(projectSeq, REHEARSAL_INBOX);
    return (
      find() ??
      (await writer.write(() => find() ?? inboxes.create(projectSeq, { name: REHEARSAL_INBOX })()))
    );
  }

  function prepare(mail: LeasedMail): Promise<Prepared | Busy> {
    return new Promise((resolve, reject) => mailComposer(app).prepare(mail, { resolve, reject }));
  }

  /** The message to a contact. Throws 422 if it cannot be rendered. */
  async function compose(
    project: Project,
    campaign: CampaignRow,
    contact: Contact,
  ): Promise<{ subject: string; raw: Uint8Array }> {
    const mail = mailTo(app, { project, campaign, contact });
    const source = { subject: campaign.subject, body: mail.html };
    const recipient = { ...contact, emailId: mail.id };
    const subject = await renderSubject(app, project, source, recipient);
    const prepared = await prepare({ ...mail, subject });
    if (prepared.kind === "prepared") return { subject, raw: prepared.message };
    throw new AppError(422, "VALIDATION_ERROR", prepared.reason);
  }

  async function check(project: Project, raw: Uint8Array) {
    const { urls: _, ...checks } = await checkContent(app, project.seq, async () => {
      const parsed = await mailParser(app).read(raw, senderOfProject(project.seq));
      if (parsed === null) throw new Error("a message of ours cannot be parsed");
      const { html, text, headers } = parsed;
      const detail = { html: html.toWellFormed(), text, headers };
      return { detail, raw, hasBareLf: false, links: "none" };
    });
    return checks;
  }

  async function variantOf(
    project: Project,
    { campaign, inbox, role }: { campaign: CampaignRow; inbox: { seq: number }; role: Role | null },
    { contact, reasons }: Chosen<Contact>,
  ): Promise<RehearsalVariant> {
    const { id, email, data } = contact;
    const variant = { contact: { id, email, data: dataFor(role, data) }, reasons };
    try {
      const { subject, raw } = await compose(project, campaign, contact);
      const envelope = localEnvelope(campaign.from, [email]);
      const arrived = { inboxSeq: inbox.seq, envelope, username: "", emailId: null };
      const [{ id: messageId }, checks] = await Promise.all([
        messageIntake(app).store(arrived, raw),
        check(project, raw),
      ]);
      return { ...variant, subject, fault: null, messageId, ...checks };
    } catch (error) {
      if (!(error instanceof AppError) || error.status !== 422) throw error;
      const nothing = { subject: null, messageId: null, findings: [], support: null, features: [] };
      return { ...variant, ...nothing, fault: error.message };
    }
  }

  /** Throws 422 for an incomplete campaign, and 409 for one without recipients. */
  return async (
    project: Project,
    campaign: CampaignRow,
    { size, role, signal }: { size: number; role: Role | null; signal: AbortSignal },
  ): Promise<Rehearsal> => {
    requireComplete(campaign);
    const sources = [campaign.subject, sharedMessage(app, campaign).html];
    const placeholders = await findPlaceholders(app, project.seq, sources);
    const names = placeholders.filter(({ isProvided }) => !isProvided).map(({ name }) => name);
    const chosen = chooseSample(await candidates(campaign), names, size);
    if (chosen.length === 0) throw nobody();
    const inbox = await inboxOf(project.seq);
    await inboxRetention(app).keepNewest(inbox.seq, MAX_KEPT);
    const variants: RehearsalVariant[] = [];
    for (let at = 0; at < chosen.length && !signal.aborted; at += AT_ONCE) {
      const some = chosen.slice(at, at + AT_ONCE);
      const context = { campaign, inbox, role };
      variants.push(...(await Promise.all(some.map((each) => variantOf(project, context, each)))));
    }
    return {
      at: new Date(clock.now()).toISOString(),
      inboxId: inbox.id,
      ...sums(variants),
      variants,
    };
  };
}

function sums(variants: readonly RehearsalVariant[]) {
  const countWith = (status: string) =>
    variants.filter(({ findings }) => findings.some((each) => each.status === status)).length;
  return {
    rendered: variants.filter(({ fault }) => fault === null).length,
    failed: variants.filter(({ fault }) => fault !== null).length,
    withErrors: countWith("ERROR"),
    withWarnings: countWith("WARNING"),
  };
}

/** A mail that has no row. It belongs to no campaign for the composer, which counts nothing then. */
function mailTo(
  app: App,
  { project, campaign, contact }: { project: Project; campaign: CampaignRow; contact: Contact },
): LeasedMail {
  const { db, clock } = app;
  const match = eq(projects.seq, project.seq);
  const [row] = db.select().from(projects).where(match).limit(1).all();
  if (row === undefined) throw new Error("the project of a request is gone");
  const now = clock.now();
  const message = sharedMessage(app, campaign);
  const topic = topicBySeq(app, campaign.topicSeq);
  return {
    ...NO_LEASE,
    id: newId(now),
    projectSeq: project.seq,
    projectId: project.id,
    projectName: row.name,
    isProjectEnabled: true,
    isTest: true,
    // An open or a click of the person who looks at it is not one of the recipient.
    tracking: "DISABLED",
    trackingHost: null,
    language: row.language,
    contactSeq: contact.seq,
    contactId: contact.id,
    isSubscribed: true,
    topicSeq: campaign.topicSeq,
    topicName: topic?.name ?? null,
    listLabel: topic === null ? null : listLabel(topic),
    isInTopic: true,
    pausedUntil: null,
    suppression: null,
    to: contact.email,
    toName: null,
    subject: campaign.subject,
    campaignSeq: null,
    variables: contact.json,
    priority: 0,
    acceptedAt: now,
    messageSeq: 0,
    fromAddress: message.fromAddress,
    fromName: message.fromName,
    replyTo: message.replyTo,
    html: message.html,
    text: null,
    groupId: null,
    recipients: null,
    headers: "[]",
    isMarketing: message.isMarketing,
    attachments: [],
    submitted: null,
    envelopeFrom: null,
    utm: campaign.utm,
  };
}

const NO_LEASE = { seq: 0, attempts: 0, dueAt: 0, slot: null, busy: null };

function nobody(): AppError {
  return new AppError(409, "INVALID_STATE", "This campaign has no recipients.", {
    suggestion: "Check its audience: GET /campaigns/{id}/audience says who gets it.",
  });
}
