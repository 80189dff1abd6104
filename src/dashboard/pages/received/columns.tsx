/** The columns of the list of received mails. */

import type { ReceivedMail } from "../../../modules/inbound-routes/model.ts";
import type { Column } from "../../ui/data-table.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { senderVerdict } from "./sender-verdict.ts";

export const RECEIVED_COLUMNS: readonly Column<ReceivedMail>[] = [
  {
    key: "from",
    title: "From",
    width: "24%",
    render: (mail) => <bdi title={mail.from ?? mail.sender}>{senderName(mail)}</bdi>,
  },
  {
    key: "subject",
    title: "Subject",
    render: (mail) => <bdi title={mail.subject}>{subjectText(mail)}</bdi>,
  },
  {
    key: "to",
    title: "To",
    width: "22%",
    render: ({ to }) => <bdi title={to.join(", ")}>{to.join(", ")}</bdi>,
  },
  {
    key: "sender",
    title: "Sender",
    width: "152px",
    render: (mail) => <Sender mail={mail} />,
  },
  {
    key: "time",
    title: "Received",
    width: "128px",
    isFigure: true,
    render: ({ receivedAt }) => <Time at={receivedAt} isPlain />,
  },
];

/** The two lines of a row on phones. */
export const receivedLines = (mail: ReceivedMail) => ({
  first: (
    <span className="line">
      <bdi className="cut">{senderName(mail)}</bdi>
      <Time at={mail.receivedAt} isPlain />
    </span>
  ),
  second: (
    <span className="line">
      <bdi className="cut">{subjectText(mail)}</bdi>
      <Sender mail={mail} />
    </span>
  ),
});

/** The name of the author, or else the address. The sender of a bounce is empty. */
export function senderName({ fromName, from, sender }: ReceivedMail): string {
  const named = [fromName, from, sender].find((text) => text !== null && text !== "");
  return named ?? "Mail system";
}

export const subjectText = ({ subject }: Pick<ReceivedMail, "subject">): string =>
  subject === "" ? "(no subject)" : subject;

export function Sender({ mail }: { mail: ReceivedMail }) {
  const { tone, word, details } = senderVerdict(mail.authentication);
  return (
    <span className="received-sender" title={details}>
      <Status tone={tone}>{word}</Status>
    </span>
  );
}
