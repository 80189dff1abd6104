/** A campaign as one person would get it: shown, or sent as a test. */

import type { Change } from "../../db/writer.ts";
import type { Project } from "../../http/admission.ts";
import type { Clock } from "../../lib/clock.ts";
import { AppError, fieldError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { domainOf } from "../../mail/address.ts";
import { recipientLinks } from "../../mail/links.ts";
import type { TemplateCache } from "../../mail/template-cache.ts";
import { render, type TemplateKind, type Variables } from "../../mail/template.ts";
import { htmlToText } from "../../mail/text.ts";
import { templateVariables } from "../../mail/variables.ts";
import { parseData } from "../contacts/data.ts";
import type { ContactRow, Contacts } from "../contacts/service.ts";
import type { EmailStore } from "../emails/store.ts";
import { sharedMessage } from "./lifecycle.ts";
import type { CampaignRow } from "./service.ts";

export type Previews = ReturnType<typeof createPreviews>;

type Rendered = { subject: string; html: string; text: string };
type Source = Pick<CampaignRow, "subject" | "body">;

const TRANSACTIONAL_PRIORITY = 0;
const SAMPLE_EMAIL = "ada@example.com";
const LONGEST_SUBJECT = 998;

export function createPreviews(deps: {
  clock: Clock;
  contacts: Pick<Contacts, "get" | "findByEmail" | "upsert">;
  store: EmailStore;
  templateCache: TemplateCache;
  isSenderVerified: (projectSeq: number, domain: string) => boolean;
  /** Base of links in mails, and the key that signs them. */
  url: string;
  linkKey: Uint8Array;
  wake: Change<void>;
}) {
  const { clock, contacts, store } = deps;

  function rendered(source: string, kind: TemplateKind, variables: Variables): string {
    const field = kind === "text" ? "subject" : "body";
    const compiled = deps.templateCache.compile(source, kind);
    if (!compiled.ok) throw fieldError(field, "invalid_format", compiled.message);
    const result = render(compiled.template, variables);
    if (result.ok) return result.text;
    throw fieldError(field, "invalid_value", `This cannot be rendered: ${result.reason}`);
  }

  function renderFor(
    project: Project,
    source: Source,
    recipient: { id: string; email: string; data: Variables; emailId: string },
  ): Rendered {
    const variables = templateVariables({
      ...recipient,
      links: recipientLinks(deps.url, deps.linkKey, recipient.emailId),
      projectName: project.name,
    });
    const html = rendered(source.body, "html", variables);
    return { subject: rendered(source.subject, "text", variables), html, text: htmlToText(html) };
  }

  function contactOf(project: Project, id: string | undefined): ContactRow | null {
    return id === undefined ? null : contacts.get(project.seq, id);
  }

  return {
    /** `data` is over the contact's own. */
    preview(
      project: Project,
      source: Source,
      input: { contactId?: string; data?: Variables },
    ): Rendered {
      const contact = contactOf(project, input.contactId);
      const own = contact === null ? {} : parseData(contact.data);
      const emailId = newId(clock.now());
      return renderFor(project, source, {
        id: contact?.id ?? "",
        email: contact?.email ?? SAMPLE_EMAIL,
        data: { ...own, ...input.data },
        emailId,
      });
    },

    /** With the contact's data if the address is one; it leaves at once, before other mail. */
    test(project: Project, campaign: CampaignRow, address: string): Change<{ email: string }> {
      requireVerified(campaign);
      return () => {
        const now = clock.now();
        const { contact } = contacts.upsert({
          projectSeq: project.seq,
          email: address,
          subscribed: undefined,
          defaultSubscribed: false,
          data: undefined,
        });
        const emailId = newId(now);
        const data = parseData(contact.data);
        const { subject } = renderFor(project, campaign, {
          id: contact.id,
          email: address,
          data,
          emailId,
        });
        // A test goes to whoever asks for it, subscribed or not.
        const message = { ...sharedMessage(campaign), isMarketing: false };
        store.insertEmail({
          id: emailId,
          projectSeq: project.seq,
          contactSeq: contact.seq,
          messageSeq: store.saveMessage(message, now),
          source: "TEST",
          templateId: null,
          to: address,
          toName: null,
          subject: `[TEST] ${subject}`.slice(0, LONGEST_SUBJECT),
          variables: contact.data,
          status: "QUEUED",
          priority: TRANSACTIONAL_PRIORITY,
          createdAt: now,
        });
        deps.wake();
        return { email: emailId };
      };
    },
  };

  function requireVerified({ projectSeq, from }: CampaignRow): void {
    if (deps.isSenderVerified(projectSeq, domainOf(from))) return;
    throw new AppError(403, "DOMAIN_NOT_VERIFIED", "The sender's domain is not verified.", {
      suggestion: `Add it with: mailstead domain add ${domainOf(from)}`,
    });
  }
}
