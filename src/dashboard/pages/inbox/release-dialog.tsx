/** Sends a message to real addresses, or says which setting allows it. */

import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import type { MessageDetail } from "../../../modules/inboxes/model.ts";
import type { Release } from "../../../modules/inboxes/release/model.ts";
import { api } from "../../api.ts";
import { useAppState } from "../../state.ts";
import { Code } from "../../ui/code.tsx";
import { ConversationView } from "../../ui/message/conversation.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Status, type Tone } from "../../ui/status.tsx";
import { DialogForm } from "../../ui/dialog-form.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import type { MessagePlace } from "./use-message.ts";
import { messagePath } from "./use-messages.ts";

type Props = {
  isOpen: boolean;
  onClose: () => void;
  place: MessagePlace;
  message: MessageDetail;
};

export function ReleaseDialog(props: Props) {
  const { isOpen, onClose } = props;
  const { transport, dev } = useAppState();
  return (
    <Dialog opened={isOpen} onClose={onClose} title="Release to an address" size="lg">
      {transport === "capture" ? (
        <NothingLeaves command={dev ? "dev" : "serve"} />
      ) : (
        <ReleaseForm {...props} />
      )}
    </Dialog>
  );
}

function NothingLeaves({ command }: { command: string }) {
  return (
    <Stack gap="md">
      <p>
        This server catches all mail and sends none. With a relay, or by direct delivery, it can
        send single messages of this inbox to an address that you type:
      </p>
      <Code
        label="A server that can release messages"
        samples={{
          Relay: `mailstead ${command} --transport relay \\
  --relay-url smtp://USER:PASSWORD@smtp.example.com:587`,
          Direct: `mailstead ${command} --transport direct \\
  --hostname mail.example.com`,
        }}
      />
      <p className="muted small">
        Mail that arrives by SMTP stays in the inbox either way, until somebody releases it.
      </p>
    </Stack>
  );
}

function ReleaseForm({ onClose, place, message }: Props) {
  const [results, setResults] = useState<readonly Release[] | null>(null);
  const form = useApiForm({
    initial: { to: "" },
    submit: ({ to }) => {
      const addresses = to.split(/[\s,;]+/).filter((address) => address !== "");
      return api.post<Release[]>(`${messagePath(place.inbox, place.id)}/release`, {
        to: addresses,
      });
    },
    onDone: setResults,
  });
  if (results !== null) return <Results results={results} onClose={onClose} />;
  const sender = message.from?.address ?? "";
  return (
    <DialogForm
      form={form}
      action="Release"
      isIncomplete={form.values.to.trim() === ""}
      onCancel={onClose}
    >
      <p>
        The message is sent as it is, from {sender === "" ? "its sender" : <b>{sender}</b>}. Its own
        recipients get nothing.
      </p>
      <TextInput
        label="Addresses"
        description="Up to 10, separated by commas"
        placeholder="you@example.com"
        data-autofocus
        autoComplete="off"
        {...form.field("to")}
      />
    </DialogForm>
  );
}

const TONES: Readonly<Record<Release["outcome"], [Tone, string]>> = {
  accepted: ["good", "Accepted"],
  deferred: ["held", "Deferred, and not tried again"],
  bounced: ["failed", "Bounced"],
  failed: ["failed", "Failed"],
  suppressed: ["held", "Suppressed"],
};

function Results({ results, onClose }: { results: readonly Release[]; onClose: () => void }) {
  return (
    <Stack gap="md">
      {results.map(({ to, outcome, reason, conversations }) => (
        <section key={to} aria-label={to}>
          <p className="release-result">
            <strong>{to}</strong> <Status tone={TONES[outcome][0]}>{TONES[outcome][1]}</Status>
          </p>
          <p className="muted small">{reason}</p>
          {conversations.map((conversation, i) => (
            <ConversationView key={i} conversation={conversation} />
          ))}
        </section>
      ))}
      <Group justify="flex-end">
        <Button onClick={onClose}>Close</Button>
      </Group>
    </Stack>
  );
}
