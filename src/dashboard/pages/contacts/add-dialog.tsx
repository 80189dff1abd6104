/** The dialog that adds a contact; an address that exists opens its contact. */

import { Button, Group, Modal, Stack, TextInput } from "@mantine/core";
import type { Contact } from "../../../modules/contacts/model.ts";
import { api } from "../../api.ts";
import { Problem } from "../../ui/problem.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";

type Props = { isOpen: boolean; onClose: () => void; onAdded: (contact: Contact) => void };

export function AddContact({ isOpen, onClose, onAdded }: Props) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Add a contact" size="sm">
      <AddForm onClose={onClose} onAdded={onAdded} />
    </Modal>
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
    <form onSubmit={form.onSubmit}>
      <Stack gap="md">
        <p className="muted">
          A new contact is subscribed, so add only people who agreed to get your mail.
        </p>
        <TextInput
          label="Email address"
          type="email"
          required
          withAsterisk={false}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          {...form.field("email")}
        />
        {form.error !== null && <Problem error={form.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={form.isBusy}>
            Add the contact
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
