/** Renders the mails of a request, one for each recipient, before anything is stored. */

import type { App } from "../../core/app.ts";
import type { Project } from "../../http/admission.ts";
import { COPIES_BYTES } from "../../http/body.ts";
import { mailboxIn } from "../../http/formats.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { type AppError, type FieldError, fieldError, validationError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { recipientLinks } from "../../render/links.ts";
import {
  createRenderBudget,
  type RenderBudget,
  type RenderedField,
} from "../../render/render-budget.ts";
import { checkSubject } from "../../render/subject.ts";
import { renderErrorMessage, type Template } from "../../render/template/template.ts";
import { mergeVariables, templateVariables } from "../../render/variables.ts";
import {
  type JsonObject,
  mergeData,
  parseData,
  persistentData,
  resolvedData,
} from "../contacts/data.ts";
import { languageOf } from "../projects/service.ts";
import type { Contacts } from "../contacts/service.ts";
import type { SendInput } from "./model.ts";
import { type RecipientFault, refuseRecipients } from "./recipient-faults.ts";

type Recipient = { address: string; name: string | null };
/** One mail to store. `contactId` is the id of its contact, which may not exist yet. */
export type RenderedMail = Recipient & {
  emailId: string;
  contactId: string;
  subject: string;
  variables: string;
  /** Data that the request stores on the contact: persistent values and the recipient's name. */
  contactData: JsonObject;
};
/** A result, or the fault of the subject or body of this recipient. */
type Checked<T> = { ok: true; value: T } | { ok: false; fault: FieldError };

export type Source = { subject: Template; body: Template; html: string };

/** Longest time to render without yielding to the event loop, in milliseconds. */
const YIELD_AFTER_MS = 20;
/** Each mail has a copy of the variables. A request reserves memory before it copies more. */
const FREE_COPIES_BYTES = 256 * 1024;

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
  const { clock, contacts } = deps;
  return renderAll;

  async function renderAll(
    project: Project,
    input: SendInput,
    { source, reserveCopies }: { source: Source; reserveCopies: () => Promise<void> },
  ): Promise<RenderedMail[]> {
    const data = resolvedData(input.data ?? {});
    const drafts: RenderedMail[] = [];
    const faults: RecipientFault[] = [];
    const budget = createRenderBudget();
    const language = languageOf(deps.app, project);
    let copiedBytes = 0;
    let isReserved = false;
    let yieldedAt = systemClock.elapsed();
    for (const [position, recipient] of recipientsOf(input).entries()) {
      const made = draft(project, recipient, { data, input, source, budget, language });
      if (made.ok) {
        drafts.push(made.value);
        copiedBytes += Buffer.byteLength(made.value.variables);
      } else if (!budget.isSpent()) {
        faults.push({ position, fault: made.fault });
      } else if (faults.length === 0) {
        throw validationError([made.fault]);
      } else break;
      if (copiedBytes > COPIES_BYTES) throw tooMuchData();
      if (copiedBytes > FREE_COPIES_BYTES && !isReserved) {
        await reserveCopies();
        isReserved = true;
      }
      if (systemClock.elapsed() - yieldedAt < YIELD_AFTER_MS) continue;
      await Bun.sleep(0);
      yieldedAt = systemClock.elapsed();
    }
    refuseRecipients(input, faults, drafts.length === 0);
    return drafts;
  }

  /**
   * Renders subject and body as they will be sent, so that a rendering error refuses the request.
   * A render that fails when the time of the request is spent is no fault of the recipient.
   */
  function draft(
    project: Project,
    recipient: Recipient,
    work: {
      data: JsonObject;
      input: SendInput;
      source: Source;
      budget: RenderBudget;
      language: string;
    },
  ): Checked<RenderedMail> {
    const { data, input, source, budget, language } = work;
    const contact = contacts.findByEmail(project.seq, recipient.address);
    const known = contact === null ? {} : parseData(contact.data);
    const stored = contactData(input, recipient);
    const snapshot = mergeVariables(mergeData(known, stored), data);
    const emailId = newId(clock.now());
    const contactId = contact?.id ?? newId(clock.now());
    const variables = templateVariables({
      id: contactId,
      email: recipient.address,
      data: snapshot,
      links: recipientLinks(deps.url, deps.linkKey, emailId),
      projectName: project.name,
      language,
    });
    const subject = rendered(budget, "subject", source.subject, variables);
    if (!subject.ok) return subject;
    const fault = checkSubject(subject.value);
    if (fault !== null) return { ok: false, fault: { field: "subject", ...fault } };
    const body = rendered(budget, "body", source.body, variables);
    if (!body.ok) return body;
    const texts = { subject: subject.value, variables: JSON.stringify(snapshot) };
    const value = { ...recipient, emailId, contactId, ...texts, contactData: stored };
    return { ok: true, value };
  }
}

export function recipientsOf(input: SendInput): Recipient[] {
  const entries = Array.isArray(input.to) ? input.to : [input.to];
  return entries.map((entry) => {
    if (typeof entry === "string") return mailboxIn(entry);
    const { address, name } = mailboxIn(entry.email);
    return { address, name: entry.name ?? name };
  });
}

function contactData(input: SendInput, recipient: Recipient): JsonObject {
  const stored = persistentData(input.data ?? {});
  return recipient.name === null ? stored : { ...stored, name: recipient.name };
}

function rendered(
  budget: RenderBudget,
  field: RenderedField,
  template: Template,
  variables: JsonObject,
): Checked<string> {
  const result = budget.render(field, template, variables);
  if (result.ok) return { ok: true, value: result.text };
  const message = renderErrorMessage(result.reason);
  return { ok: false, fault: { field: result.field, message, code: "invalid_value" } };
}

function tooMuchData(): AppError {
  const message = "is too large for so many recipients; send to fewer recipients per request";
  return fieldError("data", "too_big", message);
}
