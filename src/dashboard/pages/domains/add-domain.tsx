import { useQueryClient } from "@tanstack/react-query";
import type { Domain } from "../../../modules/domains/model.ts";
import { api } from "../../api.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { DialogForm } from "../../ui/dialog-form.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { DomainField } from "./domain-field.tsx";
import { domainIn } from "./domain-in.ts";

type Props = { isOpen: boolean; onClose: () => void; onAdded: (domain: Domain) => void };

/** The dialog that adds a domain; the page of the domain then shows its DNS records. */
export function AddDomain({ isOpen, onClose, onAdded }: Props) {
  return (
    <Dialog opened={isOpen} onClose={onClose} title="Add a domain" size="sm">
      <DomainForm onClose={onClose} onAdded={onAdded} />
    </Dialog>
  );
}

function DomainForm({ onClose, onAdded }: Omit<Props, "isOpen">) {
  const client = useQueryClient();
  const form = useApiForm({
    initial: { domain: "" },
    submit: ({ domain }, idempotencyKey) =>
      api.post<Domain>("/domains", { domain: domainIn(domain) }, { idempotencyKey }),
    onDone: async (domain) => {
      await client.invalidateQueries({ queryKey: ["domains"] });
      onClose();
      onAdded(domain);
    },
  });
  return (
    <DialogForm form={form} action="Add the domain" onCancel={onClose}>
      <DomainField
        description="The part after the @ of your addresses. The next page shows its DNS records."
        placeholder="example.com"
        data-autofocus
        onDomain={(domain) => form.form.setFieldValue("domain", domain)}
        {...form.field("domain")}
      />
    </DialogForm>
  );
}
