/** The list of emails of a project that has sent none: how to send the first one. */

import { Button } from "@mantine/core";
import { Mail, Send } from "lucide-react";
import { useAppState } from "../../state.ts";
import { Code } from "../../ui/code.tsx";
import { Empty } from "../../ui/empty.tsx";
import { useSampleMail } from "../../use-sample-mail.ts";
import { sendSamples } from "../overview/send-samples.ts";

export function NoEmails({ onSend }: { onSend: (() => void) | undefined }) {
  const { smtp, capture } = useAppState();
  const samples = sendSamples(useSampleMail());
  const isCatching = capture && smtp !== null;
  return (
    <div className="email-empty">
      <Empty
        icon={Mail}
        title="No emails yet"
        text="An email appears here as soon as it is accepted, with each step of its delivery."
        action={
          onSend !== undefined && (
            <Button leftSection={<Send size={16} aria-hidden />} onClick={onSend}>
              Send yourself a mail
            </Button>
          )
        }
      >
        <Code
          label="Sending an email"
          samples={{
            ...samples,
            ...(isCatching ? { SMTP: smtpSettings(smtp) } : {}),
          }}
        />
      </Empty>
    </div>
  );
}

/** Mail that arrives by SMTP is caught for tests: it is in the inboxes, not in this list. */
const smtpSettings = ({ host, port }: { host: string; port: number }) => `Host        ${host}
Port        ${port}
Encryption  none
User        any
Password    any

Mail that you send here is caught for tests and appears in the inbox.`;
