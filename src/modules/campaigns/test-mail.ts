/** Sends one test mail of a campaign, marked in its subject and not counted in the statistics. */

import type { App } from "../../core/app.ts";
import type { Change } from "../../db/writer.ts";
import type { Project } from "../../http/admission.ts";
import { AppError, fieldError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { parseData } from "../contacts/data.ts";
import { contactService, getContact } from "../contacts/service.ts";
import { emailStore, wakeSending } from "../../outbox/enqueue.ts";
import { renderSubject } from "../previews.ts";
import { ensureQueue } from "../quotas.ts";
import { suppressionReason } from "../suppressions.ts";
import { campaignLifecycle } from "./lifecycle.ts";
import { previewSource, sharedMessage } from "./message.ts";
import type { CampaignRow } from "./present.ts";
import { requireComplete } from "./sending-rules.ts";
import { perApp } from "../../lib/per-app.ts";

const TRANSACTIONAL_PRIORITY = 0;
const LONGEST_SUBJECT = 998;
/** A test mail needs no audience. */
const ANY_AUDIENCE = { audienceType: "ALL" } as const;

export const campaignTests = perApp(createTestMails);

function createTestMails(app: App) {
  const { clock } = app;
  const [contacts, store] = [contactService(app), emailStore(app)];

  function requireAllowed(projectSeq: number, address: string): void {
    const suppression = suppressionReason(app, projectSeq, address);
    if (suppression === null) return;
    const message = `is suppressed (${suppression}), so nothing is sent to it`;
    throw fieldError("email", "invalid_value", message);
  }

  function findNamed(projectSeq: number, contactId: string) {
    try {
      return getContact(app, projectSeq, contactId);
    } catch (error) {
      if (!(error instanceof AppError) || error.status !== 404) throw error;
      throw fieldError("contactId", "unknown_reference", "names no contact of this project");
    }
  }

  return {
    /**
     * Sends a mail to `address` as recipients would receive it, with the data of the named contact, or
     * of the contact that has the address. It leaves before other mail. Returns the id of the mail.
     */
    async send(
      project: Project,
      campaign: CampaignRow,
      address: string,
      contactId: string | null,
    ): Promise<Change<{ email: string }>> {
      requireComplete({ ...campaign, ...ANY_AUDIENCE });
      campaignLifecycle(app).requireVerified(campaign);
      requireAllowed(project.seq, address);
      const emailId = newId(clock.now());
      const find = () => contacts.findByEmail(project.seq, address);
      // The mail and its links belong to the contact with the address, also with the data of another.
      const contact = find();
      const shown = contactId === null ? contact : findNamed(project.seq, contactId);
      const data = shown === null ? {} : parseData(shown.data);
      const recipient = { id: contact?.id ?? "", email: address, data, emailId };
      const subject = await renderSubject(app, project, previewSource(app, campaign), recipient);
      return () => {
        requireAllowed(project.seq, address);
        ensureQueue(app, project.seq, 1);
        if (find()?.seq !== contact?.seq) throw contactChanged();
        if (contactId !== null) findNamed(project.seq, contactId);
        const now = clock.now();
        store.insertEmail({
          id: emailId,
          projectSeq: project.seq,
          contactSeq: contact?.seq ?? null,
          messageSeq: store.saveMessage(sharedMessage(app, campaign), now),
          source: "TEST",
          templateId: null,
          to: address,
          toName: null,
          subject: `[TEST] ${subject}`.slice(0, LONGEST_SUBJECT),
          variables: JSON.stringify(data),
          status: "QUEUED",
          priority: TRANSACTIONAL_PRIORITY,
          createdAt: now,
        });
        wakeSending(app);
        return { email: emailId };
      };
    },
  };
}

/** The data of a contact that was deleted must not be stored again. */
function contactChanged(): AppError {
  return new AppError(409, "CONFLICT", "The contact was created or deleted at the same time.", {
    suggestion: "Repeat the request.",
  });
}
