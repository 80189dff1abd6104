/**
 * Makes the mails of a request, one for each recipient, before anything is stored: first the data of
 * each, then all are rendered (content-work/content-work.ts).
 */

import type { App } from "../../core/app.ts";
import type { Project } from "../../http/admission.ts";
import { COPIES_BYTES } from "../../http/body.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { type AppError, fieldError, validationError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { recipientLinks } from "../../render/links.ts";
import type { RequestMails } from "../../render/request-mails.ts";
import { mergeVariables } from "../../render/variables.ts";
import {
  type JsonObject,
  mergeData,
  parseData,
  persistentData,
  resolvedData,
} from "../contacts/data.ts";
import { checkMails } from "../content-work/content-work.ts";
import type { Contacts } from "../contacts/service.ts";
import type { SendInput } from "./model.ts";
import { type RecipientFault, refuseRecipients } from "./recipient-faults.ts";
import { isOneMessage, type Recipient, recipientsOf } from "./recipients.ts";

/** One mail before it is rendered. `contactId` is the id of its contact, which may not exist yet. */
type Draft = Recipient & {
  emailId: string;
  contactId: string;
  /** The data that the templates see, as JSON. */
  variables: string;
  /** Data that the request stores on the contact: persistent values and the recipient's name. */
  contactData: JsonObject;
};
/** One mail to store. */
export type RenderedMail = Draft & { subject: string };

/** The sources of subject and body. */
export type Source = Pick<RequestMails, "source" | "given" | "isLenient">;

/** Longest time to make drafts without yielding to the event loop, in milliseconds. */
const YIELD_AFTER_MS = 20;
/** Each mail has a copy of the variables. A request reserves memory before it copies more. */
const FREE_COPIES_BYTES = 256 * 1024;

/** `reserveCopies` is awaited before many copies; `copied` counts those of several mails. */
type Copying = { reserveCopies: () => Promise<void>; copied?: { bytes: number } };

export type DraftDeps = {
  app: App;
  clock: Clock;
  contacts: Pick<Contacts, "findByEmail">;
  /** Base URL of the links in mails, and the key that signs these links. */
  url: string;
  linkKey: Uint8Array;
};

/** Returns the function that renders all mails of a request. */
export function createDrafts(deps: DraftDeps) {
  const { app, clock, contacts } = deps;
  return renderAll;

  /** Subject and body are rendered as they will be sent, so that a fault refuses the request. */
  async function renderAll(
    project: Project,
    input: SendInput,
    { source, ...copying }: { source: Source } & Copying,
  ): Promise<RenderedMail[]> {
    const drafts = await draftAll(project, input, copying);
    const mails: RequestMails = {
      ...source,
      project: { name: project.name, language: project.language },
      recipients: drafts.map(({ contactId, address, emailId, variables }) => ({
        id: contactId,
        email: address,
        data: variables,
        links: recipientLinks(deps.url, deps.linkKey, emailId),
      })),
    };
    const checked = await checkMails(app, project.seq, mails, { isUrgent: true });
    const rendered: RenderedMail[] = [];
    const faults: RecipientFault[] = [];
    for (const [position, draft] of drafts.entries()) {
      const mail = checked[position];
      if (mail === undefined) break;
      if (mail.kind === "rendered") rendered.push({ ...draft, subject: mail.subject });
      else if (mail.kind === "fault") faults.push({ path: draft.path, fault: mail.fault });
      // A render that fails when the time of the request is spent is no fault of the recipient.
      else if (faults.length === 0) throw validationError([mail.fault]);
    }
    refuseRecipients(faults, rendered.length === 0);
    return rendered;
  }

  async function draftAll(
    project: Project,
    input: SendInput,
    { reserveCopies, copied = { bytes: 0 } }: Copying,
  ): Promise<Draft[]> {
    const data = resolvedData(input.data ?? {});
    const drafts: Draft[] = [];
    const isOne = isOneMessage(input);
    let isReserved = false;
    let yieldedAt = systemClock.elapsed();
    for (const recipient of recipientsOf(input)) {
      const own = draft(project, recipient, { data, input });
      const first = isOne ? drafts[0] : undefined;
      // All copies of a message have the content for its first recipient.
      const made = first === undefined ? own : { ...own, variables: first.variables };
      drafts.push(made);
      copied.bytes += Buffer.byteLength(made.variables);
      if (copied.bytes > COPIES_BYTES) throw tooMuchData();
      if (copied.bytes > FREE_COPIES_BYTES && !isReserved) {
        await reserveCopies();
        isReserved = true;
      }
      if (systemClock.elapsed() - yieldedAt < YIELD_AFTER_MS) continue;
      await Bun.sleep(0);
      yieldedAt = systemClock.elapsed();
    }
    return drafts;
  }

  function draft(
    project: Project,
    recipient: Recipient,
    { data, input }: { data: JsonObject; input: SendInput },
  ): Draft {
    const contact = contacts.findByEmail(project.seq, recipient.address);
    const known = contact === null ? {} : parseData(contact.data);
    const stored = contactData(input, recipient);
    const snapshot = mergeVariables(mergeData(known, stored), data);
    return {
      ...recipient,
      emailId: newId(clock.now()),
      contactId: contact?.id ?? newId(clock.now()),
      variables: JSON.stringify(snapshot),
      contactData: stored,
    };
  }
}

/** The data of a request is about those to whom it is sent, and not about who gets a copy. */
function contactData(input: SendInput, recipient: Recipient): JsonObject {
  const stored = recipient.field === "to" ? persistentData(input.data ?? {}) : {};
  return recipient.name === null ? stored : { ...stored, name: recipient.name };
}

function tooMuchData(): AppError {
  const message = "is too large for so many recipients; send to fewer recipients per request";
  return fieldError("data", "too_big", message);
}
