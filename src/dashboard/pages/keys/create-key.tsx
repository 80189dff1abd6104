/** The dialog that creates an API key. Its second step shows the key, once. */

import { Group, Radio, Select, Stack, Textarea, TextInput, type ModalProps } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { CreatedApiKey } from "../../../modules/keys.ts";
import { api } from "../../api.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { DialogForm } from "../../ui/dialog-form.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { expiryChoices, expiryOf, NEVER, ON_A_DAY, todayText } from "./expiry.ts";
import { NewKey } from "./new-key.tsx";

export type Created = CreatedApiKey;

type Values = {
  name: string;
  kind: "SECRET" | "PUBLIC";
  /** A value of `expiryChoices`. */
  expiresAt: string;
  /** For the choice of a day. */
  day: string;
  /** One origin per line. */
  origins: string;
};

const INITIAL: Values = { name: "", kind: "SECRET", expiresAt: NEVER, day: "", origins: "" };

export function CreateKey({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [created, setCreated] = useState<Created | null>(null);
  const [isSafe, setIsSafe] = useState(false);
  function close(): void {
    onClose();
    setIsSafe(false);
  }
  // The key cannot be shown again, so it is not lost by a key stroke or a click beside the dialog.
  const locked: Partial<ModalProps> = {
    closeOnEscape: isSafe,
    closeOnClickOutside: false,
    withCloseButton: false,
  };
  return (
    <Dialog
      opened={isOpen}
      onClose={close}
      onExitTransitionEnd={() => setCreated(null)}
      title={created === null ? "Create an API key" : "Save this key now"}
      size={created === null ? 480 : 700}
      {...(created === null ? { closeOnClickOutside: false } : locked)}
    >
      {created === null ? (
        <KeyForm onCreated={setCreated} onCancel={close} />
      ) : (
        <NewKey created={created} onCopied={() => setIsSafe(true)} onDone={close} />
      )}
    </Dialog>
  );
}

function KeyForm(props: { onCreated: (key: Created) => void; onCancel: () => void }) {
  const client = useQueryClient();
  const form = useApiForm({
    initial: INITIAL,
    submit: (values, idempotencyKey) =>
      api.post<Created>("/keys", bodyOf(values), { idempotencyKey }),
    onDone: async (key) => {
      props.onCreated(key);
      await client.invalidateQueries({ queryKey: ["keys"] });
    },
  });
  const { kind, expiresAt } = form.values;
  return (
    <DialogForm form={form} action="Create the key" onCancel={props.onCancel}>
      <TextInput
        label="Name"
        description="Where the key is used, such as the name of a server."
        required
        withAsterisk={false}
        maxLength={100}
        autoComplete="off"
        data-autofocus
        {...form.field("name")}
      />
      <Radio.Group label="Kind" {...form.field("kind")}>
        <Stack gap="xs" mt={4}>
          <Radio
            value="SECRET"
            label="Secret"
            description="For your servers: it may do everything in this project, so keep it secret."
          />
          <Radio
            value="PUBLIC"
            label="Public"
            description="For web pages and apps: it may only record events, so everyone may see it."
          />
        </Stack>
      </Radio.Group>
      {kind === "PUBLIC" && (
        <Textarea
          label="Web sites"
          description="The origins that may use the key, one in each line. Empty: all web sites."
          placeholder="https://shop.example"
          autosize
          minRows={2}
          maxRows={6}
          spellCheck={false}
          {...form.field("origins")}
        />
      )}
      <Group align="flex-start" gap="xs">
        <Select
          label="Expires"
          className="grow"
          data={expiryChoices(Date.now())}
          allowDeselect={false}
          {...form.field("expiresAt")}
        />
        {expiresAt === ON_A_DAY && (
          <TextInput
            type="date"
            label="Last day"
            className="grow"
            required
            withAsterisk={false}
            min={todayText()}
            {...form.field("day")}
          />
        )}
      </Group>
    </DialogForm>
  );
}

function bodyOf({ name, kind, expiresAt, day, origins }: Values) {
  const sites = origins.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
  return {
    name: name.trim(),
    kind,
    expiresAt: expiryOf(expiresAt, day, Date.now()),
    ...(kind === "PUBLIC" && sites.length > 0 ? { origins: sites } : {}),
  };
}
