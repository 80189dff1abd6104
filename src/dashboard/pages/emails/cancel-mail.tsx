import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { CircleX } from "lucide-react";
import type { Email } from "../../../modules/emails/record-model.ts";
import { api } from "../../api.ts";
import { useMay } from "../../state.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { recipientOf } from "./columns.tsx";

/** Cancels a mail that waits. A mail that has left meanwhile is refused, and the dialog says so. */
export function CancelMail({ email }: { email: Email }) {
  const [isAsking, question] = useDisclosure(false);
  const mayChange = useMay("EDITOR");
  if (!mayChange || email.status !== "QUEUED") return null;
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<CircleX size={14} aria-hidden />}
        onClick={question.open}
      >
        Cancel the mail
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={question.close}
        title="Cancel this mail?"
        text={
          <>
            The mail to <bdi>{recipientOf(email)}</bdi> is not sent. Its record stays.
          </>
        }
        action="Cancel the mail"
        refusal="Keep the mail"
        onConfirm={() => api.post<Email>(`/emails/${encodeURIComponent(email.id)}/cancel`)}
      />
    </>
  );
}
