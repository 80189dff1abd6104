/** Starts a workflow for one contact. */

import { useState } from "react";
import { useQueryClient } from "@tanstack/react-query";
import type { Workflow } from "../../../modules/workflows/model.ts";
import { api } from "../../api.ts";
import { ContactSelect } from "../../ui/contact-preview.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { DialogForm } from "../../ui/dialog-form.tsx";
import { showDone } from "../../ui/undo.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { workflowPath } from "./use-workflow.ts";

type Props = { workflow: Workflow; isOpen: boolean; onClose: () => void };

export function StartDialog({ workflow, isOpen, onClose }: Props) {
  return (
    <Dialog opened={isOpen} onClose={onClose} title={`Start ${workflow.name}`} size="md">
      <StartForm workflow={workflow} onClose={onClose} />
    </Dialog>
  );
}

function StartForm({ workflow, onClose }: Pick<Props, "workflow" | "onClose">) {
  const client = useQueryClient();
  const [contactId, setContactId] = useState("");
  const form = useApiForm({
    initial: {},
    submit: (_, idempotencyKey) =>
      api.post(`${workflowPath(workflow.id)}/executions`, { contactId }, { idempotencyKey }),
    async onDone() {
      showDone("Started. The contact is in the workflow now.");
      onClose();
      await client.invalidateQueries({ queryKey: ["workflow-counts"] });
    },
  });
  return (
    <DialogForm
      form={form}
      action="Start the workflow"
      isIncomplete={contactId === ""}
      onCancel={onClose}
    >
      <p>It begins at once after its first step, and may send mail.</p>
      <ContactSelect
        contactId={contactId === "" ? undefined : contactId}
        onContact={setContactId}
        label="Contact"
        nobody="Choose a contact"
      />
    </DialogForm>
  );
}
