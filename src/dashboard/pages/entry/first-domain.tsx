import { Button, Stack } from "@mantine/core";
import type { Domain } from "../../../modules/domains/model.ts";
import { api } from "../../api.ts";
import { Problem } from "../../ui/problem.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { DomainField } from "../domains/domain-field.tsx";
import { domainIn } from "../domains/domain-in.ts";
import { RecordCard } from "../domains/record-card.tsx";

/** The domain from which the project sends: its name, and then the record that it needs. */
export function FirstDomain(props: {
  project: string;
  /** The domain that was added; null before. */
  domain: Domain | null;
  /** The address of the user, whose domain is the suggestion. */
  email: string;
  /** Called when the domain was added; the form is busy until it resolves. */
  onAdded: () => Promise<unknown>;
  onDone: () => void;
}) {
  const { project, domain, email, onAdded, onDone } = props;
  const form = useApiForm({
    initial: { domain: email.slice(email.lastIndexOf("@") + 1) },
    submit: (values, idempotencyKey) =>
      api.post<Domain>(
        "/domains",
        { domain: domainIn(values.domain) },
        { project, idempotencyKey },
      ),
    onDone: async () => void (await onAdded()),
  });
  if (domain !== null) {
    const needed = domain.records.filter(({ required }) => required);
    return (
      <Stack gap="md" mt="md">
        <p role="status">
          Add this record at the provider of the DNS of {domain.domain}. You can send as soon as it
          is found. Domains shows the other records, which help your mail to arrive.
        </p>
        {needed.map((record) => (
          <RecordCard key={`${record.type} ${record.name}`} record={record} />
        ))}
        <Button onClick={onDone} fullWidth>
          Continue
        </Button>
      </Stack>
    );
  }
  return (
    <form onSubmit={form.onSubmit} className="entry-form">
      <Stack gap="md">
        <DomainField
          description="The part after the @ of the addresses from which you send."
          onDomain={(name) => form.form.setFieldValue("domain", name)}
          {...form.field("domain")}
        />
        {form.error !== null && <Problem error={form.error} />}
        <Button type="submit" fullWidth loading={form.isBusy}>
          Add the domain
        </Button>
        <Button variant="default" fullWidth onClick={onDone}>
          Skip this step
        </Button>
      </Stack>
    </form>
  );
}
