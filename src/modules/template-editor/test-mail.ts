/**
 * Sends one test mail of a template as it is stored. It is marked in its subject, its opens and clicks
 * are not recorded, and it is not among the mails of the template. The sender is that of the template, otherwise of the project.
 */

import { type Static, Type } from "@sinclair/typebox";
import type { App } from "../../core/app.ts";
import type { Project, Sender } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { described, named } from "../../http/documented.ts";
import { Envelope } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { EmailAddress, mailboxIn } from "../../http/formats.ts";
import { operations, write } from "../../http/operations.ts";
import type { SignedInUser } from "../../http/session-access.ts";
import { Input } from "../../http/validation.ts";
import { AppError, fieldError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { domainOf } from "../../protocols/mime/address.ts";
import { mergeVariables } from "../../render/variables.ts";
import { type JsonObject, parseData, resolvedData } from "../contacts/data.ts";
import { type ContactRow, getContact } from "../contacts/service.ts";
import { isSenderVerified, senderNotVerified } from "../domains/domains.ts";
import type { Noun } from "../module.ts";
import { renderSubject } from "../previews.ts";
import { ensureQueue } from "../quotas.ts";
import { suppressionReason } from "../suppressions.ts";
import { getTemplate, type TemplateRow } from "../templates.ts";
import { bodyToSend, templateMessage } from "../templates/assembled.ts";
import { keepVersion } from "../templates/versions.ts";
import { transportOf } from "../../outbox/transports/create-transport.ts";
import { contactService } from "../contacts/service.ts";
import { emailStore, wakeSending } from "../../outbox/enqueue.ts";

const TestInput = named(
  "TemplateTestInput",
  described(
    Input({
      to: Type.Optional(EmailAddress),
      contactId: Type.Optional(Type.String()),
      data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    }),
    {
      to: "Address that gets the mail; that of the user who is signed in if omitted",
      contactId:
        "Id of the contact whose data the mail shows; if omitted, the contact with the address, if any",
      data: "Variables that replace those of the contact",
    },
  ),
  {
    description: "Who gets a test mail of a template, and what it shows",
    example: { to: "me@acme.example", data: { order: 1001 } },
  },
);
type TestInput = Static<typeof TestInput>;

const SentTest = named(
  "TemplateTest",
  described(Type.Object({ email: Type.String() }), { email: "Id of the mail" }),
  { description: "A test mail that was queued", example: { email: EXAMPLE.emailId } },
);

const TRANSACTIONAL_PRIORITY = 0;
const LONGEST_SUBJECT = 998;

type PreparedTest = {
  template: TemplateRow;
  sender: Sender;
  emailId: string;
  to: string;
  /** The contact with the address; the mail and its links belong to it. */
  recipient: ContactRow | null;
  /** Id of the contact whose data the mail shows; null for that of the address, if there is one. */
  shownId: string | null;
  subject: string;
  data: JsonObject;
};

export const templateTestNoun: Noun = {
  name: "template tests",
  operations: operations("Templates", { parameters: { id: "Id of the template" } }, [
    write("POST /templates/:id/test", {
      id: "testTemplate",
      role: "EDITOR",
      summary: "Send a test mail of a template",
      description:
        "Renders the template as it is stored and queues one mail, whose subject begins with " +
        "[TEST]. Its opens and clicks are not recorded, and it is not a mail of the template in lists. " +
        "With an API key, `to` is required.",
      isIdempotent: true,
      links: { getEmail: { id: "/data/email" } },
      body: limited(Type.Optional(TestInput), BODY_LIMITS.preview),
      answer: Envelope(SentTest),
      prepare: (app, { project, user, params, body }) =>
        prepareTest(app, {
          project,
          user,
          template: getTemplate(app, project.seq, params.id),
          input: body ?? {},
        }),
      run: (app, { project }, test) => storeTest(app, { project, test }),
    }),
  ]),
};

async function prepareTest(
  app: App,
  work: {
    project: Project;
    user: SignedInUser["user"] | null;
    template: TemplateRow;
    input: TestInput;
  },
): Promise<PreparedTest> {
  const { project, user, template, input } = work;
  const to = input.to === undefined ? user?.email : mailboxIn(input.to).address;
  if (to === undefined) throw fieldError("to", "required", "is required with an API key");
  const sender = senderOf(template, project);
  const domain = domainOf(sender.address);
  const isOwnCapture = transportOf(app).name === "capture" && to === user?.email;
  if (!isOwnCapture && !isSenderVerified(app, project.seq, domain)) throw senderNotVerified(domain);
  ensureAllowed(app, project.seq, to);
  const emailId = newId(app.clock.now());
  const recipient = contactService(app).findByEmail(project.seq, to);
  const { contactId } = input;
  const shown = contactId === undefined ? recipient : getContact(app, project.seq, contactId);
  const own = shown === null ? {} : parseData(shown.data);
  const data = mergeVariables(own, resolvedData(input.data ?? {}));
  const source = { subject: template.subject, body: bodyToSend(app, template) };
  const subject = await renderSubject(app, project, source, {
    id: recipient?.id ?? "",
    email: to,
    data,
    emailId,
  });
  return { template, sender, emailId, to, recipient, shownId: contactId ?? null, subject, data };
}

function senderOf({ from, fromName }: TemplateRow, { sender }: Project): Sender {
  if (from !== null) return { address: from, name: fromName };
  if (sender !== null) return { address: sender.address, name: fromName ?? sender.name };
  const message = "is required, since neither the template nor the project names a sender";
  throw fieldError("from", "required", message);
}

function ensureAllowed(app: App, projectSeq: number, address: string): void {
  const suppression = suppressionReason(app, projectSeq, address);
  if (suppression === null) return;
  const message = `is suppressed (${suppression}), so nothing is sent to it`;
  throw fieldError("to", "invalid_value", message);
}

/** Part of a change. */
function storeTest(
  app: App,
  { project, test }: { project: Project; test: PreparedTest },
): { email: string } {
  const { template, sender, emailId, to, recipient, shownId, data } = test;
  ensureAllowed(app, project.seq, to);
  ensureQueue(app, project.seq, 1);
  if (contactService(app).findByEmail(project.seq, to)?.seq !== recipient?.seq)
    throw contactChanged();
  // The data of a contact that was deleted meanwhile must not be stored again.
  if (shownId !== null) getContact(app, project.seq, shownId);
  const now = app.clock.now();
  emailStore(app).insertEmail({
    id: emailId,
    projectSeq: project.seq,
    contactSeq: recipient?.seq ?? null,
    messageSeq: emailStore(app).saveMessage(templateMessage(app, template, sender), now),
    source: "TEST",
    templateId: null,
    to,
    toName: null,
    subject: `[TEST] ${test.subject}`.slice(0, LONGEST_SUBJECT).toWellFormed(),
    variables: JSON.stringify(data),
    status: "QUEUED",
    priority: TRANSACTIONAL_PRIORITY,
    createdAt: now,
  });
  keepVersion(app, template);
  wakeSending(app);
  return { email: emailId };
}

/** The data of a contact that was deleted must not be stored again. */
function contactChanged(): AppError {
  return new AppError(409, "CONFLICT", "The contact was created or deleted at the same time.", {
    suggestion: "Repeat the request.",
  });
}
