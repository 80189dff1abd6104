/** A mail of a simulation as its recipient would see it. */

import { Skeleton } from "@mantine/core";
import type { Simulation } from "../../../../modules/workflows/simulation/model.ts";
import { hasRemoteImages } from "../../../ui/contact-preview.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { MailFrame } from "../../../ui/mail-frame.tsx";

export function MailDialog(props: {
  found: Simulation;
  /** Null: the dialog is closed. */
  number: number | null;
  onClose: () => void;
}) {
  const { found, number, onClose } = props;
  const mails = found.executions.flatMap(({ steps }) => steps.flatMap(({ mail }) => mail ?? []));
  const mail = number === null ? undefined : mails[number];
  const subject = mail === undefined || mail.subject === "" ? "Mail" : mail.subject;
  return (
    <Dialog opened={number !== null} onClose={onClose} title={subject} size="xl">
      {mail !== undefined && (
        <p className="muted small try-mail-line">
          From {mail.fromName === null ? mail.from : `${mail.fromName} <${mail.from}>`} to {mail.to}
        </p>
      )}
      {found.documentUrl === null ? (
        <Skeleton height={420} aria-busy="true" />
      ) : (
        <MailFrame
          path={found.documentUrl}
          title={`Preview of ${subject}`}
          hasImages={hasRemoteImages(mail?.html ?? "")}
          hasText
        />
      )}
    </Dialog>
  );
}
