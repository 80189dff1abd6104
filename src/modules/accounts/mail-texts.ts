/** The texts of the mails of the product itself: invitations, and links for a new password. */

import { oneLine } from "../../lib/one-line.ts";

export type MailText = { subject: string; text: string; html: string };

export function invitationText({
  project,
  by,
  link,
}: {
  project: string;
  by: string;
  link: string;
}): MailText {
  return mailOf(`You are invited to ${project}`, {
    paragraphs: [`${by} invites you to work on the mail of ${project} with Mailstead.`],
    action: { label: "Accept the invitation", link },
    end: "The link works once, and for seven days. If you did not expect it, ignore this mail.",
  });
}

export function resetText({ link }: { link: string }): MailText {
  return mailOf("Set a new password", {
    paragraphs: ["Somebody asked for a new password for your Mailstead account."],
    action: { label: "Set a new password", link },
    end:
      "The link works once, and for one hour. If it was not you, ignore this mail: your password " +
      "has not changed.",
  });
}

function mailOf(
  subject: string,
  {
    paragraphs,
    action,
    end,
  }: { paragraphs: readonly string[]; action: { label: string; link: string }; end: string },
): MailText {
  const text = [...paragraphs, `${action.label}:\n${action.link}`, end].join("\n\n");
  const html = [
    ...paragraphs.map((paragraph) => `<p>${Bun.escapeHTML(paragraph)}</p>`),
    `<p><a href="${Bun.escapeHTML(action.link)}">${Bun.escapeHTML(action.label)}</a></p>`,
    `<p>${Bun.escapeHTML(end)}</p>`,
  ].join("\n");
  return { subject: subjectLine(subject), text: `${text}\n`, html: `${html}\n` };
}

/** A subject is one line, and names of projects may contain other characters. */
function subjectLine(subject: string): string {
  return oneLine(subject).slice(0, 200).toWellFormed();
}
