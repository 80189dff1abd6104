/** The dialog that adds a contact; an address that exists opens its contact. */

import type { Contact } from "../../../modules/contacts/model.ts";
import { api } from "../../api.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { AddressField, DialogForm } from "../../ui/dialog-form.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";

type Props = { isOpen: boolean; onClose: () => void; onAdded: (contact: Contact) => void };

export function AddContact({ isOpen, onClose, onAdded }: Props) {
  return (
    <Dialog opened={isOpen} onClose={onClose} title="Add a contact" size="sm">
      <AddForm onClose={onClose} onAdded={onAdded} />
    </Dialog>
  );
}

function AddForm({ onClose, onAdded }: Omit<Props, "isOpen">) {
  const form = useApiForm({
    initial: { email: "" },
    submit: ({ email }, idempotencyKey) =>
      api.post<Contact>("/contacts", { email: email.trim() }, { idempotencyKey }),
    onDone: onAdded,
  });
  return (
    <DialogForm form={form} action="Add the contact" onCancel={onClose}>
      <p className="muted">
        A new contact is subscribed, so add only people who agreed to get your mail.
      </p>
      <AddressField {...form.field("email")} />
    </DialogForm>
  );
}
