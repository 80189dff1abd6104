/** The tabs of a message. */

import type { MessageDetail } from "../../../modules/inboxes/model.ts";
import { MailFrame } from "../../ui/mail-frame.tsx";
import { LinesView } from "../../ui/message/lines-view.tsx";
import { plainLines } from "../../ui/message/message-lines.ts";
import { SourceView } from "../../ui/message/source-view.tsx";
import { Loaded } from "../../ui/loaded.tsx";
import { Note } from "../../ui/note.tsx";
import { InboxChecksTab } from "./checks-tab.tsx";
import { LinksTab } from "./links-tab.tsx";
import { PartsTab } from "./parts-tab.tsx";
import { SessionTab } from "./session-tab.tsx";
import { FileWarning } from "lucide-react";
import { useMemo } from "react";
import { type MessagePlace, useMessageSource } from "./use-message.ts";
import { messagePath } from "./use-messages.ts";

type Tab = { key: string; label: string };

/** A message without HTML has no preview, and one that cannot be parsed has only its source. */
export function tabsOf({ html, text, parts, parseError, envelope }: MessageDetail): Tab[] {
  const isReadable = parseError === null;
  const tabs: (Tab | false)[] = [
    isReadable && html !== "" && { key: "preview", label: "HTML" },
    isReadable && (text !== "" || html === "") && { key: "text", label: "Text" },
    { key: "source", label: "Source" },
    isReadable && { key: "headers", label: "Headers" },
    parts.length > 0 && { key: "parts", label: `Attachments ${parts.length}` },
    isReadable && { key: "links", label: "Links" },
    isReadable && { key: "checks", label: "Checks" },
    envelope.sessionId !== null && { key: "smtp", label: "SMTP" },
  ];
  return tabs.filter((tab) => tab !== false);
}

export function MessagePanel(props: { place: MessagePlace; message: MessageDetail; tab: string }) {
  const { place, message, tab } = props;
  switch (tab) {
    case "preview":
      return (
        <MailFrame
          title={`Preview of ${message.subject}`}
          path={`${messagePath(place.inbox, place.id)}/preview`}
          hasImages={REMOTE_IMAGE.test(message.html)}
        />
      );
    case "text":
      return <TextTab message={message} />;
    case "headers":
      return <HeadersTab message={message} />;
    case "parts":
      return <PartsTab place={place} message={message} />;
    case "links":
      return <LinksTab place={place} />;
    case "checks":
      return <InboxChecksTab place={place} html={message.html} />;
    case "smtp":
      return <SessionTab inbox={place.inbox} message={message} />;
    default:
      return <SourceTab place={place} message={message} />;
  }
}

const REMOTE_IMAGE =
  /\b(?:src|srcset|background)\s{0,9}=\s{0,9}["']?https?:|url\(\s{0,9}["']?https?:/i;

function TextTab({ message: { text } }: { message: MessageDetail }) {
  const lines = useMemo(() => plainLines(text), [text]);
  if (text.trim() === "") return <p className="muted">The message has no text.</p>;
  return <LinesView lines={lines} label="Text part" isWrapped />;
}

function HeadersTab({ message: { headers } }: { message: MessageDetail }) {
  return (
    <dl className="headers">
      {headers.map(({ name, value }, i) => (
        <div key={`${i} ${name}`}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function SourceTab({ place, message }: { place: MessagePlace; message: MessageDetail }) {
  return (
    <>
      {message.parseError !== null && (
        <Note icon={<FileWarning size={20} aria-hidden />} title="This message cannot be parsed">
          {message.parseError} Below are the bytes that arrived.
        </Note>
      )}
      <Loaded query={useMessageSource(place)}>
        {(source) => <SourceView {...source} size={message.size} />}
      </Loaded>
    </>
  );
}
