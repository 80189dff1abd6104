/** The dialog that checks an address by its syntax, by lists and by DNS. No mail is sent. */

import { Button } from "@mantine/core";
import { useState } from "react";
import type { Verification } from "../../../modules/verification/verification.ts";
import { api } from "../../api.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { AddressField, DialogForm } from "../../ui/dialog-form.tsx";
import { Field, Fields } from "../../ui/fields.tsx";
import { Status } from "../../ui/status.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { addressVerdict } from "./address-verdict.ts";

type Props = { isOpen: boolean; onClose: () => void; email?: string };

export function CheckAddress({ isOpen, onClose, email = "" }: Props) {
  return (
    <Dialog opened={isOpen} onClose={onClose} title="Check an address" size="md">
      <CheckForm onClose={onClose} email={email} />
    </Dialog>
  );
}

function CheckForm({ onClose, email: given }: { onClose: () => void; email: string }) {
  const [found, setFound] = useState<Verification | null>(null);
  const form = useApiForm({
    initial: { email: given },
    submit: async ({ email }) => {
      setFound(null);
      return api.post<Verification>("/v1/verify", { email: email.trim() });
    },
    onDone: setFound,
  });
  return (
    <DialogForm
      form={form}
      action="Check the address"
      isIncomplete={form.values.email.trim() === ""}
      onCancel={onClose}
      cancel="Close"
    >
      <p className="muted">
        The spelling, lists of known services and the DNS of the domain are checked. No mail is
        sent.
      </p>
      <AddressField type="text" inputMode="email" {...form.field("email")} />
      {found !== null && (
        <Findings found={found} onCorrect={(email) => form.form.setFieldValue("email", email)} />
      )}
    </DialogForm>
  );
}

function Findings(props: { found: Verification; onCorrect: (email: string) => void }) {
  const { found, onCorrect } = props;
  const { email, suggestedEmail, reasons } = found;
  const { tone, word, text } = addressVerdict(found);
  return (
    <section className="address-findings" role="status" aria-label="Result">
      <p>
        <Status tone={tone}>{word}</Status> <strong>{email}</strong>
      </p>
      <p>{text}</p>
      {reasons.length > 0 && (
        <ul>
          {reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
      {suggestedEmail !== null && (
        <Button
          size="compact-sm"
          variant="default"
          type="submit"
          onClick={() => onCorrect(suggestedEmail)}
        >
          Check {suggestedEmail}
        </Button>
      )}
      <Facts found={found} />
    </section>
  );
}

function Facts({ found }: { found: Verification }) {
  const { domainExists, hasMxRecords, isPersonalEmail, isPlusAddressed } = found;
  return (
    <Fields>
      <Field label="Domain">{domainExists ? "Exists" : "Does not exist"}</Field>
      <Field label="MX records">{hasMxRecords ? "Found" : "None found"}</Field>
      <Field label="Kind">
        {isPersonalEmail ? "A provider for everybody" : "A domain of its own"}
        {isPlusAddressed ? ", with a tag after +" : ""}
      </Field>
    </Fields>
  );
}
