/** The dialog that creates a form. The rest is set on its page. */

import { TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import type { Form } from "../../../modules/forms/model.ts";
import { api } from "../../api.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { DialogForm } from "../../ui/dialog-form.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";

export function CreateForm(props: {
  isOpen: boolean;
  onClose: () => void;
  /** Opens the new form. */
  onDone: (id: string) => void;
}) {
  const { isOpen, onClose, onDone } = props;
  return (
    <Dialog opened={isOpen} onClose={onClose} title="Create a form" size={480}>
      <Fields onDone={onDone} onCancel={onClose} />
    </Dialog>
  );
}

function Fields(props: { onDone: (id: string) => void; onCancel: () => void }) {
  const client = useQueryClient();
  const form = useApiForm({
    initial: { name: "", title: "" },
    submit: (values, idempotencyKey) => api.post<Form>("/forms", values, { idempotencyKey }),
    async onDone({ id }) {
      await client.invalidateQueries({ queryKey: ["forms"] });
      props.onDone(id);
    },
  });
  return (
    <DialogForm form={form} action="Create the form" onCancel={props.onCancel}>
      <TextInput
        label="Name"
        description="For you, such as Footer of the shop"
        required
        withAsterisk={false}
        data-autofocus
        {...form.field("name")}
      />
      <TextInput
        label="Heading"
        description="What people read above the form, such as Our newsletter"
        required
        withAsterisk={false}
        {...form.field("title")}
      />
    </DialogForm>
  );
}
