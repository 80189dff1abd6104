/** The dialog that adds a contact; an address that exists gets the values, and its contact opens. */

import { Button, Checkbox, TextInput } from "@mantine/core";
import { Plus } from "lucide-react";
import { useRef, useState } from "react";
import type { Contact } from "../../../modules/contacts/model.ts";
import { api } from "../../api.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { AddressField, DialogForm } from "../../ui/dialog-form.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { DraftRow } from "./data-editor.tsx";
import { editOf, type ValueDraft } from "./data-values.ts";
import { nameFields } from "./name-fields.ts";

type Props = {
  isOpen: boolean;
  /** The fields of the contacts of the project. */
  known: readonly string[];
  onClose: () => void;
  onAdded: (contact: Contact) => void;
};

export function AddContact({ isOpen, known, onClose, onAdded }: Props) {
  return (
    <Dialog opened={isOpen} onClose={onClose} title="Add a contact" size="md">
      <AddForm known={known} onClose={onClose} onAdded={onAdded} />
    </Dialog>
  );
}

function AddForm({ known, onClose, onAdded }: Omit<Props, "isOpen">) {
  const [drafts, setDrafts] = useState<ValueDraft[]>([]);
  const [isTried, setIsTried] = useState(false);
  const added = useRef(0);
  const names = nameFields(known);
  const edit = editOf({}, drafts);
  const form = useApiForm({
    initial: { email: "", name: "", firstName: "", lastName: "", subscribed: true },
    async submit({ email, subscribed, ...typed }, idempotencyKey) {
      setIsTried(true);
      if (!edit.ok) return null;
      const named = Object.fromEntries(
        names.flatMap(({ key, part }) => {
          const name = typed[part].trim();
          return name === "" ? [] : [[key, name]];
        }),
      );
      // A contact who has unsubscribed stays so when its address is added once more.
      const flag = subscribed ? {} : { subscribed };
      const body = { email: email.trim(), ...flag, data: { ...named, ...edit.patch } };
      return api.post<Contact>("/contacts", body, { idempotencyKey });
    },
    onDone: (contact) => {
      if (contact !== null) onAdded(contact);
    },
  });
  const choices = known.filter((key) => !names.some((name) => name.key === key));
  const add = () =>
    setDrafts([
      ...drafts,
      { id: `new ${added.current++}`, key: "", type: "text", text: "", isNew: true },
    ]);
  return (
    <DialogForm form={form} action="Add the contact" onCancel={onClose}>
      <AddressField {...form.field("email")} />
      {names.map(({ part, label }) => (
        <TextInput key={part} label={label} autoComplete="off" {...form.field(part)} />
      ))}
      {drafts.map((draft) => (
        <DraftRow
          key={draft.id}
          draft={draft}
          known={choices.filter((key) => !drafts.some((each) => each.key === key))}
          fault={isTried && !edit.ok ? edit.faults.get(draft.id) : undefined}
          onChange={(next) => setDrafts(drafts.map((each) => (each.id === next.id ? next : each)))}
          onRemove={() => setDrafts(drafts.filter((each) => each.id !== draft.id))}
        />
      ))}
      <Button
        size="compact-sm"
        variant="subtle"
        leftSection={<Plus size={14} aria-hidden />}
        className="contact-add-field"
        onClick={add}
      >
        Add a field
      </Button>
      <Checkbox
        label="Gets campaigns"
        description="Only people who agreed to get your mail. Somebody who unsubscribed before stays unsubscribed."
        {...form.form.getInputProps("subscribed", { type: "checkbox" })}
      />
    </DialogForm>
  );
}
