import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Send } from "lucide-react";
import { useRef } from "react";
import type { Email } from "../../../modules/emails/record-model.ts";
import { api, newIdempotencyKey } from "../../api.ts";
import { useMay } from "../../state.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { recipientOf } from "./columns.tsx";

/** Sends a mail again that has ended, as a new mail. No single click sends mail, so it asks first. */
export function SendAgain({ email, onSent }: { email: Email; onSent: (id: string) => void }) {
  const [isAsking, question] = useDisclosure(false);
  const key = useRef("");
  const mayChange = useMay("EDITOR");
  const { id, status, to } = email;
  if (!mayChange || to === null || status === "QUEUED" || status === "SENDING") return null;
  function ask(): void {
    // The same key for a second try, so that a lost response sends no second mail.
    key.current = newIdempotencyKey();
    question.open();
  }
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<Send size={14} aria-hidden />}
        onClick={ask}
      >
        Send again
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={question.close}
        color="brand"
        title="Send this mail again?"
        text={
          <>
            <bdi>{recipientOf(email)}</bdi> gets a new mail with the same content. This one keeps
            its record.
          </>
        }
        action="Send the mail"
        onConfirm={async () => {
          const path = `/emails/${encodeURIComponent(id)}/resend`;
          const sent = await api.post<Email>(path, undefined, { idempotencyKey: key.current });
          onSent(sent.id);
        }}
      />
    </>
  );
}
