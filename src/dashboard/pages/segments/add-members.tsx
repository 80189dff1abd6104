/** The dialog that adds pasted addresses to a list. */

import { Checkbox, Textarea } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { AddedMembers, Segment } from "../../../modules/segments/model.ts";
import { api } from "../../api.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { DialogForm } from "../../ui/dialog-form.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { addressesOf, partsOf } from "./addresses.ts";

type Props = { isOpen: boolean; onClose: () => void; segment: Segment };

export function AddMembers({ isOpen, onClose, segment }: Props) {
  return (
    <Dialog opened={isOpen} onClose={onClose} title={`Add contacts to ${segment.name}`} size="md">
      <MembersForm segment={segment} onClose={onClose} />
    </Dialog>
  );
}

function MembersForm({ segment, onClose }: Omit<Props, "isOpen">) {
  const client = useQueryClient();
  const [missing, setMissing] = useState<readonly string[]>([]);
  const form = useApiForm({
    initial: { emails: "", createMissing: false },
    async submit({ emails, createMissing }, idempotencyKey) {
      const notFound: string[] = [];
      for (const [i, part] of partsOf(addressesOf(emails)).entries()) {
        const added = await api.post<typeof AddedMembers.static>(
          `/segments/${segment.id}/members`,
          { emails: part, createMissing },
          { idempotencyKey: `${idempotencyKey}-${i}` },
        );
        notFound.push(...added.notFound);
      }
      return notFound;
    },
    async onDone(notFound) {
      await client.invalidateQueries({ queryKey: ["segments"] });
      await client.invalidateQueries({ queryKey: ["segment-members"] });
      if (notFound.length === 0) onClose();
      setMissing(notFound);
    },
  });
  const addresses = addressesOf(form.values.emails);
  return (
    <DialogForm
      form={form}
      action={addresses.length === 1 ? "Add 1 contact" : `Add ${addresses.length} contacts`}
      isIncomplete={addresses.length === 0}
      onCancel={onClose}
    >
      <Textarea
        label="Email addresses"
        description="One in each line, or separated by commas."
        autosize
        minRows={6}
        maxRows={14}
        spellCheck={false}
        data-autofocus
        {...form.field("emails")}
      />
      <Checkbox
        label="Create contacts for new addresses. They are subscribed, so they must have agreed."
        {...form.form.getInputProps("createMissing", { type: "checkbox" })}
      />
      {missing.length > 0 && (
        <p role="status">
          {missing.length === 1
            ? "1 address has no contact and was not added: "
            : `${missing.length} addresses have no contact and were not added: `}
          {missing.slice(0, 20).join(", ")}
          {missing.length > 20 ? ` and ${missing.length - 20} more` : ""}
        </p>
      )}
    </DialogForm>
  );
}
