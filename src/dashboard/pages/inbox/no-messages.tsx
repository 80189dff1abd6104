/** An inbox without messages: how to send the first one, which then appears without a reload. */

import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Inbox as InboxIcon, Send } from "lucide-react";
import type { Inbox } from "../../../modules/inboxes/inbox-model.ts";
import { useAppState, useMay, useProject } from "../../state.ts";
import { CopyText } from "../../ui/copy.tsx";
import { SendYourself } from "../../ui/send-yourself.tsx";
import { SmtpCode, SmtpFields } from "./connect-panel.tsx";

const DEFAULT_INBOX = "default";

export function NoMessages({ inbox, isLive }: { inbox: Inbox; isLive: boolean }) {
  const { transport } = useAppState();
  const project = useProject()?.id ?? null;
  const mayEdit = useMay("EDITOR");
  const [isSending, sending] = useDisclosure(false);
  // Mail that is captured instead of sent arrives in this inbox.
  const isSendable = mayEdit && transport === "capture" && inbox.name === DEFAULT_INBOX;
  return (
    <div className="inbox-empty">
      <div className="inbox-empty-head">
        <InboxIcon size={28} aria-hidden />
        <h2>Send a mail and it appears here</h2>
        <p className="muted" role="status">
          {isLive ? "Waiting for the first message…" : "The connection is lost; connecting again…"}
        </p>
        {isSendable && (
          <Button leftSection={<Send size={16} aria-hidden />} onClick={sending.open}>
            Send yourself a mail
          </Button>
        )}
      </div>
      {project !== null && (
        <SendYourself isOpen={isSending} onClose={sending.close} project={project} />
      )}
      <div className="inbox-empty-grid">
        <section className="card">
          <h3>SMTP settings of your program</h3>
          <SmtpFields inbox={inbox} />
        </section>
        <section>
          <SmtpCode inbox={inbox} />
          <SampleCommand />
        </section>
      </div>
    </div>
  );
}

/** The port that `mailstead send` uses without a setting. */
const USUAL_PORT = 1025;

/** One command that sends a mail with a code and a link. */
function SampleCommand() {
  const { smtp, dev } = useAppState();
  if (smtp === null || !dev) return null;
  const option = smtp.port === USUAL_PORT ? "" : ` --capture-smtp ${smtp.host}:${smtp.port}`;
  return (
    <p className="inbox-empty-command">
      <span className="muted">Or send a sample mail from a terminal:</span>
      <CopyText value={`mailstead send${option}`} label="Copy the command" />
    </p>
  );
}

const KEYS = [
  ["j", "k", "next and previous message"],
  ["/", "", "search"],
  ["u", "", "mark as unread"],
  ["s", "", "pin"],
  ["#", "", "delete"],
  ["?", "", "all shortcuts"],
] as const;

/** At the right, until a message is opened. */
export function NothingOpen() {
  return (
    <div className="inbox-nothing">
      <p className="muted">Choose a message</p>
      <dl className="key-list">
        {KEYS.map(([first, second, text]) => (
          <div key={first}>
            <dt>
              <kbd>{first}</kbd> {second !== "" && <kbd>{second}</kbd>}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
