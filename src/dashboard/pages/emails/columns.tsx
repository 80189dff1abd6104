/** The columns of the list of emails. */

import type { Email } from "../../../modules/emails/record-model.ts";
import type { Column } from "../../ui/data-table.tsx";
import { Status, statusWord } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import type { EmailNames } from "./use-names.ts";

export function emailColumns(names: EmailNames): Column<Email>[] {
  return [
    { key: "to", title: "To", width: "23%", render: (email) => <Recipient email={email} /> },
    { key: "subject", title: "Subject", render: ({ subject }) => <Subject text={subject} /> },
    {
      key: "status",
      title: "Status",
      width: "140px",
      render: (email) => <Status value={shownStatus(email)} />,
    },
    {
      key: "source",
      title: "Source",
      width: "15%",
      render: (email) => <Source email={email} names={names} />,
    },
    {
      key: "created",
      title: "Created",
      width: "104px",
      isFigure: true,
      render: ({ createdAt }) => <Time at={createdAt} isPlain />,
    },
    {
      key: "sent",
      title: "Sent",
      width: "104px",
      isFigure: true,
      render: ({ sentAt }) => <Time at={sentAt} isPlain />,
    },
  ];
}

/** The two lines of a row on phones. */
export function phoneLines(email: Email) {
  return {
    first: (
      <span className="email-line">
        <bdi className="cut">{recipientOf(email)}</bdi>
        <span className="email-time muted small">
          <Time at={email.sentAt ?? email.createdAt} isPlain />
        </span>
      </span>
    ),
    second: (
      <span className="email-line">
        <bdi className="cut">{subjectOf(email)}</bdi>
        <Status value={shownStatus(email)} />
      </span>
    ),
  };
}

/** A queued email that a server deferred is shown as deferred. */
export const shownStatus = ({ status, attempts }: Email): string =>
  status === "QUEUED" && attempts.at(-1)?.outcome === "deferred" ? "DEFERRED" : status;

export const subjectOf = ({ subject }: Email): string => (subject === "" ? "No subject" : subject);

export const recipientOf = ({ to }: Email): string => to ?? "Deleted contact";

function Recipient({ email }: { email: Email }) {
  return (
    <bdi className={email.to === null ? "muted" : undefined} title={recipientOf(email)}>
      {recipientOf(email)}
    </bdi>
  );
}

function Subject({ text }: { text: string }) {
  return text === "" ? <span className="muted">No subject</span> : <bdi title={text}>{text}</bdi>;
}

/** The source in words, with the name of its campaign or template where it is known. */
function Source({ email, names }: { email: Email; names: EmailNames }) {
  const { source, campaignId, templateId } = email;
  const name =
    campaignId === null
      ? templateId === null
        ? undefined
        : names.templates.get(templateId)
      : names.campaigns.get(campaignId);
  return (
    <bdi
      className="muted"
      title={name === undefined ? undefined : `${statusWord(source)}: ${name}`}
    >
      {name ?? statusWord(source)}
    </bdi>
  );
}
