import { Paperclip } from "lucide-react";
import type { EmailContent } from "../../../modules/emails/content/model.ts";
import type { Email } from "../../../modules/emails/record-model.ts";
import { MailFrame } from "../../ui/mail-frame.tsx";
import { sizeText } from "../../ui/size-text.ts";
import { Body } from "./body.tsx";
import { useContent } from "./use-email.ts";

/** The email as its recipient sees it, in a sandboxed document of the server. */
export function PreviewTab({ email }: { email: Email }) {
  const path = `/emails/${encodeURIComponent(email.id)}/preview`;
  return (
    <Body query={useContent(email.id)}>
      {(content) => (
        <div className="email-tall">
          {content.usesCurrentData && (
            <p className="muted small email-hint">
              Shown with the present data of the contact; the data at the time of sending is not
              stored for mail of campaigns.
            </p>
          )}
          <MailFrame
            title={`Preview of ${email.subject}`}
            path={path}
            hasImages={hasRemoteImages(content.html)}
          />
          <Attachments content={content} />
        </div>
      )}
    </Body>
  );
}

/** Attributes and styles that load an image of another server. */
const REMOTE =
  /(?:src|srcset|background)\s{0,9}=\s{0,9}["']?\s{0,9}https?:|url\(\s{0,9}["']?https?:/i;
const hasRemoteImages = (html: string): boolean => REMOTE.test(html);

function Attachments({ content: { attachments } }: { content: EmailContent }) {
  if (attachments.length === 0) return null;
  return (
    <ul className="attachments" aria-label="Attachments">
      {attachments.map(({ filename, contentType, size }, i) => (
        <li key={`${i} ${filename}`}>
          <Paperclip size={14} aria-hidden />
          <span className="cut">{filename}</span>
          <span className="muted small">
            {contentType}, {sizeText(size)}
          </span>
        </li>
      ))}
    </ul>
  );
}
