/** The settings of a webhook: address, events, secret, and whether events are sent. */

import { Button, Group, Stack } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Webhook, WebhookWithSecret } from "../../../modules/webhooks/model.ts";
import { api } from "../../api.ts";
import { useMay, useProject } from "../../state.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { useDeletion } from "../../ui/deletion.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Problem } from "../../ui/problem.tsx";
import { showUndo, showFailure } from "../../ui/undo.tsx";
import { useUnsaved } from "../../ui/unsaved.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { Secret } from "./secret.tsx";
import { hostOf } from "./texts.ts";
import { useWebhookActions, webhookKey, webhookPath } from "./use-webhook.ts";
import { webhookBody, WebhookFields } from "./webhook-fields.tsx";

export function Settings({ webhook }: { webhook: Webhook }) {
  const mayManage = useMay("ADMIN");
  return (
    <div className="webhook-settings">
      {webhook.shape === "RESEND" && (
        <p className="muted webhook-text">
          A client of Resend created this webhook: its requests and the names of its events are
          those of Resend.
        </p>
      )}
      <Form webhook={webhook} mayManage={mayManage} />
      {mayManage && (
        <>
          <Rotation webhook={webhook} />
          {webhook.enabled && <Disabling webhook={webhook} />}
          <Removal webhook={webhook} />
        </>
      )}
    </div>
  );
}

function Form({ webhook, mayManage }: { webhook: Webhook; mayManage: boolean }) {
  const project = useProject()?.id ?? "";
  const { patch } = useWebhookActions(project, webhook.id);
  const [isSaved, setIsSaved] = useState(false);
  const form = useApiForm({
    initial: {
      url: webhook.url,
      events: webhook.events.join("\n"),
      description: webhook.description ?? "",
    },
    submit: (values) => patch(webhookBody(values)),
    onDone() {
      setIsSaved(true);
      form.form.resetDirty();
    },
  });
  const unsaved = useUnsaved(mayManage && form.form.isDirty());
  return (
    <form onSubmit={form.onSubmit} onChange={() => setIsSaved(false)} className="section">
      {unsaved}
      <Stack gap="md">
        <WebhookFields field={form.field} values={form.values} isReadOnly={!mayManage} />
        {form.error !== null && <Problem error={form.error} />}
        {mayManage && (
          <Group gap="sm">
            <Button type="submit" loading={form.isBusy}>
              Save
            </Button>
            <span className="muted small" role="status">
              {isSaved && "Saved. Events from now on use these settings."}
            </span>
          </Group>
        )}
      </Stack>
    </form>
  );
}

function Rotation({ webhook }: { webhook: Webhook }) {
  const [isOpen, dialog] = useDisclosure(false);
  const [made, setMade] = useState<WebhookWithSecret | null>(null);
  const [isShown, shown] = useDisclosure(false);
  const [isSafe, setIsSafe] = useState(false);
  async function rotate(): Promise<void> {
    setMade(await api.post<WebhookWithSecret>(`${webhookPath(webhook.id)}/rotate-secret`));
    setIsSafe(false);
    shown.open();
  }
  return (
    <section className="section card">
      <h3>Secret</h3>
      <p className="muted webhook-text">
        Requests are signed with a secret that only your server knows. Make a new one if the old one
        is lost, or if others may have seen it.
      </p>
      <Button variant="default" onClick={dialog.open}>
        Make a new secret
      </Button>
      <Confirm
        isOpen={isOpen}
        onClose={dialog.close}
        title="Make a new secret?"
        text="For 24 hours requests are signed with both secrets, so your server can change to the new one without losing an event. After that, the old secret is worth nothing."
        action="Make a new secret"
        onConfirm={rotate}
      />
      <Dialog
        opened={isShown}
        onClose={shown.close}
        onExitTransitionEnd={() => setMade(null)}
        title="Save this secret now"
        size={700}
        closeOnClickOutside={false}
        closeOnEscape={isSafe}
        withCloseButton={false}
      >
        {made !== null && (
          <Secret webhook={made} onCopied={() => setIsSafe(true)} onDone={shown.close}>
            This is the only time that the new secret is shown. Give it to your server within 24
            hours; until then the old one also works.
          </Secret>
        )}
      </Dialog>
    </section>
  );
}

function Disabling({ webhook }: { webhook: Webhook }) {
  const project = useProject()?.id ?? "";
  const { patch } = useWebhookActions(project, webhook.id);
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  async function enable(): Promise<void> {
    try {
      await patch({ enabled: true });
    } catch (caught) {
      showFailure("The webhook is still disabled", caught);
    }
  }
  async function disable(): Promise<void> {
    setIsBusy(true);
    setError(null);
    try {
      await patch({ enabled: false });
      showUndo({ text: "The webhook was disabled.", onUndo: () => void enable() });
    } catch (caught) {
      setError(caught);
    } finally {
      setIsBusy(false);
    }
  }
  return (
    <section className="section card">
      <h3>Disable the webhook</h3>
      <p className="muted webhook-text">
        No events are sent while it is disabled, and events of that time are not sent later.
      </p>
      {error !== null && <Problem error={error} />}
      <Button variant="default" loading={isBusy} onClick={() => void disable()}>
        Disable the webhook
      </Button>
    </section>
  );
}

function Removal({ webhook }: { webhook: Webhook }) {
  const [isAsking, question] = useDisclosure(false);
  const project = useProject()?.id ?? "";
  const navigate = useNavigate();
  const remove = useDeletion({
    path: webhookPath(webhook.id),
    queryKey: webhookKey(project, webhook.id),
    listKey: ["webhooks"],
    leave: () => navigate({ to: "/p/$project/webhooks", params: { project } }),
  });
  return (
    <section className="section card">
      <h3>Delete the webhook</h3>
      <p className="muted webhook-text">Its deliveries and its secret are deleted with it.</p>
      <Button variant="default" onClick={question.open}>
        Delete the webhook
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={question.close}
        title="Delete this webhook?"
        text={`${hostOf(webhook.url)} gets no more events. Deliveries that wait are not sent.`}
        action="Delete the webhook"
        onConfirm={remove}
      />
    </section>
  );
}
