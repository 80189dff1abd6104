/** A received mail: who sent it to whom, how the sender was verified, and its parts in tabs. */

import { useMemo } from "react";
import type { ReceivedMail } from "../../../modules/inbound-routes/model.ts";
import { projectUrl } from "../../api.ts";
import { useProject } from "../../state.ts";
import { CopyText } from "../../ui/copy.tsx";
import { Field, Fields } from "../../ui/fields.tsx";
import { Loaded } from "../../ui/loaded.tsx";
import { MailFrame } from "../../ui/mail-frame.tsx";
import { LinesView } from "../../ui/message/lines-view.tsx";
import { headerText, messageLines } from "../../ui/message/message-lines.ts";
import { PartList } from "../../ui/message/part-list.tsx";
import { SourceView } from "../../ui/message/source-view.tsx";
import { SenderVerdicts } from "../../ui/message/verdicts.tsx";
import { PageTabs, TabLink } from "../../ui/page.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { exactTime } from "../../ui/time.tsx";
import { Sender, subjectText } from "./columns.tsx";
import { senderVerdict } from "./sender-verdict.ts";
import { receivedPath, useReceivedSource } from "./use-received.ts";

type Tab = { key: string; label: string };

/** A mail that cannot be parsed has only its source. */
function tabsOf({ attachments, isReadable }: ReceivedMail): Tab[] {
  const tabs: (Tab | false)[] = [
    isReadable && { key: "preview", label: "Preview" },
    attachments.length > 0 && { key: "attachments", label: `Attachments ${attachments.length}` },
    { key: "sender", label: "Sender" },
    { key: "headers", label: "Headers" },
    { key: "source", label: "Source" },
  ];
  return tabs.filter((tab) => tab !== false);
}

export function ReceivedView({ mail, tab }: { mail: ReceivedMail; tab: string | undefined }) {
  const tabs = tabsOf(mail);
  const current = tabs.find(({ key }) => key === tab) ?? tabs[0];
  return (
    <div className="received-view">
      <Summary mail={mail} />
      <PageTabs label="Parts of the mail">
        {tabs.map(({ key, label }) => (
          <TabLink key={key} tab={key} current={current?.key ?? ""}>
            {label}
          </TabLink>
        ))}
      </PageTabs>
      <section className="received-panel" aria-label={current?.label}>
        <Panel mail={mail} tab={current?.key ?? "source"} />
      </section>
    </div>
  );
}

function Summary({ mail }: { mail: ReceivedMail }) {
  const { from, fromName, sender, to, receivedAt, contactId, inReplyTo, forwarded } = mail;
  const base = `/p/${useProject()?.id ?? ""}`;
  const author = from ?? (sender === "" ? "Mail system" : sender);
  return (
    <Fields>
      <Field label="From">
        <bdi>{fromName === null ? author : `${fromName} <${author}>`}</bdi>
      </Field>
      <Field label="To">
        <bdi>{to.join(", ")}</bdi>
      </Field>
      <Field label="Received">
        <time dateTime={receivedAt}>{exactTime(new Date(receivedAt))}</time>
      </Field>
      <Field label="Sender">
        <Sender mail={mail} />{" "}
        <span className="muted">{senderVerdict(mail.authentication).meaning}</span>
      </Field>
      {contactId !== null && (
        <Field label="Contact">
          <PathLink path={`${base}/contacts/${contactId}`}>Open the contact</PathLink>
        </Field>
      )}
      {inReplyTo !== null && (
        <Field label="Reply to">
          <PathLink path={`${base}/emails/${inReplyTo}`}>The mail that you sent</PathLink>
        </Field>
      )}
      {forwarded.map((id, i) => (
        <Field key={id} label={i === 0 ? "Forwarded" : ""}>
          <PathLink path={`${base}/emails/${id}`}>Open the forwarded mail</PathLink>
        </Field>
      ))}
      {mail.isAutomatic && (
        <Field label="Automatic">
          A program wrote it, such as a vacation note or a newsletter.
        </Field>
      )}
    </Fields>
  );
}

function Panel({ mail, tab }: { mail: ReceivedMail; tab: string }) {
  switch (tab) {
    case "preview":
      return (
        <MailFrame
          title={`Preview of ${subjectText(mail)}`}
          path={`${receivedPath(mail.id)}/preview`}
          hasText
        />
      );
    case "attachments":
      return <Attachments mail={mail} />;
    case "sender":
      return <SenderTab mail={mail} />;
    case "headers":
      return <HeadersTab mail={mail} />;
    default:
      return <SourceTab mail={mail} />;
  }
}

function Attachments({ mail: { id, attachments } }: { mail: ReceivedMail }) {
  // The links of the interface are for programs, which send a key.
  const parts = attachments.map((part) => ({
    ...part,
    url: projectUrl(`${receivedPath(id)}/attachments/${encodeURIComponent(part.id)}`),
  }));
  return <PartList parts={parts} />;
}

function SenderTab({ mail: { authentication, sender, messageId } }: { mail: ReceivedMail }) {
  return (
    <>
      {authentication === null ? (
        <p className="muted">
          This is a report about a forwarded mail, so its sender is not checked.
        </p>
      ) : (
        <SenderVerdicts {...authentication} />
      )}
      <Fields>
        <Field label="Envelope">{sender === "" ? "No sender: a bounce" : sender}</Field>
        <Field label="Message-ID">
          {messageId === null ? "None" : <CopyText value={messageId} label="Copy the Message-ID" />}
        </Field>
      </Fields>
    </>
  );
}

function HeadersTab({ mail }: { mail: ReceivedMail }) {
  return (
    <Loaded query={useReceivedSource(mail.id)}>{({ text }) => <Headers text={text} />}</Loaded>
  );
}

function Headers({ text }: { text: string }) {
  const lines = useMemo(() => messageLines(headerText(text)), [text]);
  return <LinesView lines={lines} label="Headers" isWrapped />;
}

function SourceTab({ mail }: { mail: ReceivedMail }) {
  return (
    <Loaded query={useReceivedSource(mail.id)}>
      {(source) => <SourceView {...source} size={mail.size} />}
    </Loaded>
  );
}
