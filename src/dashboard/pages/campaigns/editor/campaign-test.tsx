/** Sends the campaign as a mail to the user, or to another address, with the data of one contact. */

import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Send } from "lucide-react";
import { api } from "../../../api.ts";
import { useAppState } from "../../../state.ts";
import { ContactSelect } from "../../../ui/contact-preview.tsx";
import { AddressField, DialogForm } from "../../../ui/dialog-form.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { showDone } from "../../../ui/undo.tsx";
import { useApiForm } from "../../../ui/use-api-form.ts";
import { type CampaignEditing, campaignPath, CAMPAIGN_LABELS } from "./campaign-source.ts";
import { saveAll } from "./save-all.ts";

type Props = { id: string; editor: CampaignEditing; contactId: string | undefined };

export function CampaignTest(props: Props) {
  const [isOpen, dialog] = useDisclosure(false);
  return (
    <>
      <Button variant="default" leftSection={<Send size={15} aria-hidden />} onClick={dialog.open}>
        Send a test
      </Button>
      <Dialog opened={isOpen} onClose={dialog.close} title="Send a test" size="md">
        <TestForm {...props} onDone={dialog.close} />
      </Dialog>
    </>
  );
}

function TestForm({ id, editor, contactId, onDone }: Props & { onDone: () => void }) {
  const { user } = useAppState();
  const { subject, body, from } = editor.value;
  const missing = [
    ...(from === "" ? ["a sender"] : []),
    ...(subject === "" ? ["a subject"] : []),
    ...(body === "" ? ["a body"] : []),
  ];
  const form = useApiForm({
    initial: { email: user?.email ?? "", contactId: contactId ?? "" },
    async submit(values, idempotencyKey) {
      await saveAll(editor, CAMPAIGN_LABELS);
      const email = values.email.trim();
      const contact = values.contactId === "" ? {} : { contactId: values.contactId };
      await api.post(`${campaignPath(id)}/test`, { email, ...contact }, { idempotencyKey });
      return email;
    },
    onDone(email) {
      showDone(`The test was sent to ${email}.`);
      onDone();
    },
  });
  return (
    <DialogForm
      form={form}
      action="Send the test"
      isIncomplete={missing.length > 0 || form.values.email.trim() === ""}
      onCancel={onDone}
    >
      <p className="muted">
        {missing.length > 0
          ? `A test needs ${missing.join(", ")} first.`
          : "One mail, whose subject begins with [TEST]. It is not counted in the report."}
      </p>
      <AddressField {...form.field("email")} />
      <ContactSelect
        label="With the data of"
        contactId={form.values.contactId === "" ? undefined : form.values.contactId}
        onContact={(chosen) => form.form.setFieldValue("contactId", chosen)}
      />
    </DialogForm>
  );
}
