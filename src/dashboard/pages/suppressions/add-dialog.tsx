/** The dialog that suppresses an address. */

import { Select } from "@mantine/core";
import type { Suppression } from "../../../modules/suppressions.ts";
import { api } from "../../api.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { AddressField, DialogForm } from "../../ui/dialog-form.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { REASONS } from "./reasons.ts";

type Added = { suppression: Suppression; isNew: boolean };
type Props = { isOpen: boolean; onClose: () => void; onAdded: (added: Added) => void };

const CREATED = 201;
/** The reasons that a user may give. */
export const REASON_OPTIONS = (["MANUAL", "COMPLAINT", "HARD_BOUNCE"] as const).map((value) => ({
  value,
  label: REASONS[value].label,
}));

export function AddSuppression({ isOpen, onClose, onAdded }: Props) {
  return (
    <Dialog opened={isOpen} onClose={onClose} title="Suppress an address" size="sm">
      <AddForm onClose={onClose} onAdded={onAdded} />
    </Dialog>
  );
}

function AddForm({ onClose, onAdded }: Omit<Props, "isOpen">) {
  const form = useApiForm({
    initial: { email: "", reason: "MANUAL" },
    submit: async ({ email, reason }, idempotencyKey): Promise<Added> => {
      let isNew = false;
      const suppression = await api.post<Suppression>(
        "/suppressions",
        { email: email.trim(), reason },
        { idempotencyKey, onStatus: (status) => (isNew = status === CREATED) },
      );
      return { suppression, isNew };
    },
    onDone: onAdded,
  });
  return (
    <DialogForm form={form} action="Suppress the address" onCancel={onClose}>
      <p className="muted">
        The project sends no more mail to this address, not even password resets and receipts.
      </p>
      <AddressField {...form.field("email")} />
      <Select
        label="Reason"
        data={REASON_OPTIONS}
        allowDeselect={false}
        comboboxProps={{ withinPortal: true }}
        {...form.field("reason")}
      />
    </DialogForm>
  );
}
