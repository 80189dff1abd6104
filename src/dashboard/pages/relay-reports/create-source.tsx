/** The dialog that creates a source of reports. Its second step shows the URL, once, and the set-up. */

import { Select, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { CreatedReportSource } from "../../../modules/relay-reports/model.ts";
import { api } from "../../api.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { DialogForm } from "../../ui/dialog-form.tsx";
import { ShownOnce } from "../../ui/shown-once.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { GUIDES, PROVIDER_CHOICES, type ReportProvider } from "./guides.tsx";
import { SigningKey, Steps, UrlTest } from "./set-up.tsx";

type Values = { provider: ReportProvider; name: string };

const INITIAL: Values = { provider: "SES", name: "" };

export function CreateSource({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [created, setCreated] = useState<CreatedReportSource | null>(null);
  const [isSafe, setIsSafe] = useState(false);
  function close(): void {
    onClose();
    setIsSafe(false);
  }
  return (
    <Dialog
      opened={isOpen}
      onClose={close}
      onExitTransitionEnd={() => setCreated(null)}
      title={created === null ? "Add a relay provider" : "Enter this URL at the provider"}
      size={created === null ? 480 : 700}
      closeOnClickOutside={false}
      // The URL cannot be shown again, so it is not lost by a key stroke.
      closeOnEscape={created === null || isSafe}
      withCloseButton={created === null}
    >
      {created === null ? (
        <SourceForm onCreated={setCreated} onCancel={close} />
      ) : (
        <ShownOnce
          secret={created.url}
          noun="URL"
          text="This is the only time that the URL is shown, because it contains a secret. If it is lost, delete the source and add it again."
          onCopied={() => setIsSafe(true)}
          onDone={close}
        >
          <Steps source={created} />
          <SigningKey source={created} />
          <UrlTest source={created} url={created.url} />
        </ShownOnce>
      )}
    </Dialog>
  );
}

function SourceForm(props: {
  onCreated: (source: CreatedReportSource) => void;
  onCancel: () => void;
}) {
  const client = useQueryClient();
  const form = useApiForm({
    initial: INITIAL,
    submit: ({ provider, name }, idempotencyKey) =>
      api.post<CreatedReportSource>(
        "/report-sources",
        { provider, ...(name.trim() === "" ? {} : { name: name.trim() }) },
        { idempotencyKey },
      ),
    onDone: async (source) => {
      props.onCreated(source);
      await client.invalidateQueries({ queryKey: ["report-sources"] });
    },
  });
  return (
    <DialogForm form={form} action="Create the URL" onCancel={props.onCancel}>
      <Select
        label="Provider"
        description="The service to which this server passes your mail on."
        data={PROVIDER_CHOICES}
        allowDeselect={false}
        data-autofocus
        {...form.field("provider")}
      />
      <TextInput
        label="Name"
        description="Helps where you have more than one account."
        placeholder={GUIDES[form.values.provider].name}
        maxLength={100}
        autoComplete="off"
        {...form.field("name")}
      />
    </DialogForm>
  );
}
