/** The dialog that creates a webhook. Its second step shows the secret, once. */

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { WebhookWithSecret } from "../../../modules/webhooks/model.ts";
import { api } from "../../api.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { DialogForm } from "../../ui/dialog-form.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { Secret } from "./secret.tsx";
import { webhookBody, WebhookFields, type WebhookValues } from "./webhook-fields.tsx";

const INITIAL: WebhookValues = { url: "", events: "email.*", description: "" };

export function CreateWebhook(props: {
  isOpen: boolean;
  onClose: () => void;
  /** Opens the new webhook. */
  onDone: (id: string) => void;
}) {
  const { isOpen, onClose, onDone } = props;
  const [created, setCreated] = useState<WebhookWithSecret | null>(null);
  const [isSafe, setIsSafe] = useState(false);
  function close(): void {
    onClose();
    setIsSafe(false);
    if (created !== null) onDone(created.id);
  }
  return (
    <Dialog
      opened={isOpen}
      onClose={close}
      onExitTransitionEnd={() => setCreated(null)}
      title={created === null ? "Create a webhook" : "Save this secret now"}
      size={created === null ? 520 : 700}
      closeOnClickOutside={false}
      // The secret cannot be shown again, so it is not lost by a key stroke.
      closeOnEscape={created === null || isSafe}
      withCloseButton={created === null}
    >
      {created === null ? (
        <WebhookForm onCreated={setCreated} onCancel={close} />
      ) : (
        <Secret webhook={created} onCopied={() => setIsSafe(true)} onDone={close}>
          This is the only time that the secret is shown. Your server needs it to check that a
          request comes from here. If it is lost, make a new one under Settings of the webhook.
        </Secret>
      )}
    </Dialog>
  );
}

function WebhookForm(props: {
  onCreated: (webhook: WebhookWithSecret) => void;
  onCancel: () => void;
}) {
  const client = useQueryClient();
  const form = useApiForm({
    initial: INITIAL,
    submit: (values, idempotencyKey) =>
      api.post<WebhookWithSecret>("/webhooks", webhookBody(values), { idempotencyKey }),
    onDone: async (webhook) => {
      props.onCreated(webhook);
      await client.invalidateQueries({ queryKey: ["webhooks"] });
    },
  });
  return (
    <DialogForm form={form} action="Create the webhook" onCancel={props.onCancel}>
      <WebhookFields field={form.field} values={form.values} isFirstFocused />
    </DialogForm>
  );
}
