/** The dialog that records an event of a contact, as programs do with `POST /v1/track`. */

import { Checkbox, Textarea, TextInput } from "@mantine/core";
import type { Contact } from "../../../modules/contacts/model.ts";
import type { TrackedEvent } from "../../../modules/track.ts";
import { api, ApiError, type ListPage } from "../../api.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { AddressField, DialogForm } from "../../ui/dialog-form.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { readEventData } from "./event-data.ts";

type Props = { isOpen: boolean; onClose: () => void; onRecorded: (event: TrackedEvent) => void };

export function RecordEvent({ isOpen, onClose, onRecorded }: Props) {
  return (
    <Dialog opened={isOpen} onClose={onClose} title="Record an event" size="md">
      <RecordForm onClose={onClose} onRecorded={onRecorded} />
    </Dialog>
  );
}

function RecordForm({ onClose, onRecorded }: Omit<Props, "isOpen">) {
  const form = useApiForm({
    initial: { email: "", event: "", data: "", subscribed: false },
    async submit({ email, event, data: text, subscribed }, idempotencyKey) {
      const data = dataOf(text);
      const address = email.trim();
      // The event of a contact that exists must not change its subscription.
      const flag = (await isKnown(address)) ? {} : { subscribed };
      const body = { email: address, event: event.trim(), ...flag, ...data };
      return api.post<TrackedEvent>("/v1/track", body, { idempotencyKey });
    },
    onDone: onRecorded,
  });
  const { email, event } = form.values;
  return (
    <DialogForm
      form={form}
      action="Record the event"
      isIncomplete={email.trim() === "" || event.trim() === ""}
      onCancel={onClose}
    >
      <p className="muted">
        Workflows that begin with this event, or wait for it, go on, and may send mail.
      </p>
      <AddressField label="Contact" {...form.field("email")} />
      <TextInput
        label="Event"
        placeholder="order.paid"
        required
        withAsterisk={false}
        autoComplete="off"
        spellCheck={false}
        {...form.field("event")}
      />
      <Textarea
        label="Data"
        description="JSON; may be empty. It is also stored in the data of the contact."
        placeholder={'{ "total": 12 }'}
        autosize
        minRows={3}
        maxRows={12}
        spellCheck={false}
        className="event-json"
        {...form.field("data")}
      />
      <Checkbox
        label="If the contact is new, it gets campaigns"
        description="Only for people who agreed to get your mail. Contacts that exist stay as they are."
        {...form.form.getInputProps("subscribed", { type: "checkbox" })}
      />
    </DialogForm>
  );
}

/** The data of the request. Throws an error of the field, as the interface answers. */
function dataOf(text: string): { data?: object } {
  const read = readEventData(text);
  if (read.ok) return read.data === null ? {} : { data: read.data };
  throw invalid("data", read.message);
}

const FOUND = 100;

/** Whether a contact has the address. */
async function isKnown(email: string): Promise<boolean> {
  const query = { search: email, limit: FOUND };
  const { items, hasMore } = await api.get<ListPage<Contact>>("/contacts", { query });
  if (items.some((contact) => contact.email === email.toLowerCase())) return true;
  if (hasMore) throw invalid("email", "is a part of many addresses; write the whole address");
  return false;
}

function invalid(field: string, message: string): ApiError {
  return new ApiError({
    status: 422,
    code: "VALIDATION_ERROR",
    message,
    suggestion: "",
    requestId: "",
    errors: [{ field, message, code: "invalid_value" }],
  });
}
