import { Button, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { api } from "../../api.ts";
import { Problem } from "../../ui/problem.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";

type Sent = { emails: { email: string }[] };

const SUBJECT = "Hello from Mailstead";
const BODY =
  "<h1>It works</h1><p>Your server sent this mail. Its record shows each step of the delivery.</p>";

/** Sends a mail to the user, and then links to its record, where its delivery is shown. */
export function FirstMail(props: {
  project: string;
  to: string;
  /** The domain of the sender; by default that of the recipient. */
  domain: string | null;
}) {
  const { project, to } = props;
  const domain = props.domain ?? to.slice(to.lastIndexOf("@") + 1);
  const [emailId, setEmailId] = useState<string | null>(null);
  const form = useApiForm({
    initial: { to, from: `hello@${domain}` },
    submit: (values, idempotencyKey) =>
      api.post<Sent>(
        "/v1/send",
        { ...values, subject: SUBJECT, body: BODY },
        { project, idempotencyKey },
      ),
    onDone: ({ emails }) => setEmailId(emails[0]?.email ?? null),
  });
  if (emailId !== null) {
    return (
      <Stack gap="md" mt="md">
        <p role="status">The mail to {form.values.to} is queued.</p>
        <Button component="a" href={`/app/p/${project}/emails/${emailId}`} fullWidth>
          Watch its delivery
        </Button>
        <Button component="a" href={`/app/p/${project}`} variant="default" fullWidth>
          Go to the overview
        </Button>
      </Stack>
    );
  }
  return (
    <form onSubmit={form.onSubmit} className="entry-form">
      <Stack gap="md">
        <TextInput label="To" type="email" required withAsterisk={false} {...form.field("to")} />
        <TextInput
          label="From"
          description="To send to others, its domain must be verified."
          type="email"
          required
          withAsterisk={false}
          {...form.field("from")}
        />
        {form.error !== null && <Problem error={form.error} />}
        <Button type="submit" fullWidth loading={form.isBusy}>
          Send the mail
        </Button>
        <Button component="a" href={`/app/p/${project}`} variant="default" fullWidth>
          Skip this step
        </Button>
      </Stack>
    </form>
  );
}
