/** Sends the campaign as a mail to the user, or to another address, with the data of one contact. */

import { Button, SegmentedControl, Skeleton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Send } from "lucide-react";
import { useState } from "react";
import type { Contact } from "../../../../modules/contacts/model.ts";
import { api, type ListPage } from "../../../api.ts";
import { useAppState, useProject } from "../../../state.ts";
import { ContactSelect } from "../../../ui/contact-preview.tsx";
import { AddressField, DialogForm } from "../../../ui/dialog-form.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { showDone } from "../../../ui/undo.tsx";
import { useApiForm } from "../../../ui/use-api-form.ts";
import { type CampaignEditing, campaignPath, CAMPAIGN_LABELS } from "./campaign-source.ts";
import { saveAll } from "../../../ui/editors/save-all.ts";

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

/** The newest contact of the audience; `id` is undefined while it is not known, and if there is none. */
function useFirstRecipient({ id, editor }: Props): { id: string | undefined; isLoading: boolean } {
  const project = useProject()?.id ?? null;
  const first = useQuery({
    queryKey: ["campaign-audience", project, id, "first"],
    queryFn: ({ signal }) =>
      api.get<ListPage<Contact>>(`${campaignPath(id)}/audience/contacts`, {
        query: { limit: 1 },
        signal,
      }),
    enabled: editor.status === "SAVED",
    retry: false,
  });
  return { id: first.data?.items[0]?.id, isLoading: first.isLoading };
}

function TestForm({ onDone, ...props }: Props & { onDone: () => void }) {
  const { id, editor } = props;
  const { user } = useAppState();
  const first = useFirstRecipient(props);
  const [chosen, setChosen] = useState(props.contactId);
  const contactId = chosen ?? first.id;
  const variants = editor.value.abTest?.variants ?? [];
  const [variantId, setVariant] = useState("A");
  const variant = variants.some(({ id: each }) => each === variantId) ? { variantId } : {};
  const { subject, body, from } = editor.value;
  const missing = [
    ...(from === "" ? ["a sender"] : []),
    ...(subject === "" ? ["a subject"] : []),
    ...(body === "" ? ["a body"] : []),
  ];
  const form = useApiForm({
    initial: { email: user?.email ?? "" },
    async submit(values, idempotencyKey) {
      await saveAll(editor, CAMPAIGN_LABELS);
      const email = values.email.trim();
      const contact = contactId === undefined || contactId === "" ? {} : { contactId };
      await api.post(
        `${campaignPath(id)}/test`,
        { email, ...contact, ...variant },
        { idempotencyKey },
      );
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
      {variants.length > 0 && (
        <SegmentedControl
          aria-label="Variant"
          value={variantId}
          onChange={setVariant}
          data={variants.map(({ id: each }) => ({ value: each, label: `Variant ${each}` }))}
        />
      )}
      {chosen === undefined && first.isLoading ? (
        // A field that is filled later would replace the text that is typed meanwhile.
        <Skeleton height={60} />
      ) : (
        <ContactSelect
          label="With the data of"
          nobody="The contact with this address, if there is one"
          contactId={contactId}
          onContact={setChosen}
        />
      )}
    </DialogForm>
  );
}
