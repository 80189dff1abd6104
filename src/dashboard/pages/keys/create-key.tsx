/** The dialog that creates an API key. Its second step shows the key, once. */

import {
  Group,
  type ModalProps,
  MultiSelect,
  Radio,
  Select,
  Stack,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { CreatedApiKey } from "../../../modules/keys.ts";
import { api } from "../../api.ts";
import { useProject } from "../../state.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { DialogForm } from "../../ui/dialog-form.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { useDomains } from "../domains/use-domains.ts";
import { type Access, ACCESSES, isSending, kindAndScope } from "./access.ts";
import { expiryChoices, expiryOf, NEVER, ON_A_DAY, todayText } from "./expiry.ts";
import { NewKey } from "./new-key.tsx";

export type Created = CreatedApiKey;

type Values = {
  name: string;
  access: Access;
  /** A value of `expiryChoices`. */
  expiresAt: string;
  /** For the choice of a day. */
  day: string;
  /** One origin per line. */
  origins: string;
  domains: string[];
  /** One address or range per line. */
  ipRanges: string;
};

const INITIAL: Values = {
  name: "",
  access: "SEND",
  expiresAt: NEVER,
  day: "",
  origins: "",
  domains: [],
  ipRanges: "",
};

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
  const { data: domains = [] } = useDomains(useProject()?.id ?? "");
  const form = useApiForm({
    initial: INITIAL,
    submit: (values, idempotencyKey) =>
      api.post<Created>("/keys", bodyOf(values), { idempotencyKey }),
    onDone: async (key) => {
      props.onCreated(key);
      await client.invalidateQueries({ queryKey: ["keys"] });
    },
  });
  const { access, expiresAt } = form.values;
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
      <Radio.Group label="What it may do" {...form.field("access")}>
        <Stack gap={6} mt={4}>
          {ACCESSES.map(({ value, label, description }) => (
            <Radio key={value} value={value} label={label} description={description} />
          ))}
        </Stack>
      </Radio.Group>
      {isSending(access) && domains.length > 0 && (
        <MultiSelect
          label="Sender domains"
          placeholder={form.values.domains.length === 0 ? "All domains of the project" : ""}
          data={domains.map(({ domain }) => domain)}
          clearable
          {...form.field("domains")}
        />
      )}
      {access === "PUBLIC" ? (
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
      ) : (
        <Textarea
          label="IP addresses"
          placeholder="All; or 203.0.113.0/24, one in each line"
          autosize
          minRows={1}
          maxRows={6}
          spellCheck={false}
          {...form.field("ipRanges")}
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

/** Fields that were filled for another choice are left out. */
function bodyOf({ name, access, expiresAt, day, origins, domains, ipRanges }: Values) {
  const isPublic = access === "PUBLIC";
  return {
    name: name.trim(),
    ...kindAndScope(access),
    expiresAt: expiryOf(expiresAt, day, Date.now()),
    origins: isPublic ? linesIn(origins) : [],
    domains: isSending(access) ? domains : [],
    ipRanges: isPublic ? [] : linesIn(ipRanges),
  };
}

const linesIn = (text: string): string[] =>
  text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
