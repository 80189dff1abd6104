import { Button, Skeleton, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { api } from "../../api.ts";
import { useAppState } from "../../state.ts";
import { Problem } from "../../ui/problem.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { senderDomain, useDomains } from "../domains/use-domains.ts";
import { DomainNeeded } from "./domain-needed.tsx";

type Sent = { emails: { email: string }[] };

const SUBJECT = "Hello from Mailstead";
const BODY =
  "<h1>It works</h1><p>Your server sent this mail. Its record shows each step of the delivery.</p>";

/** Sends a mail to the user, or says why the server would refuse it. */
export function FirstMail({ project, to }: { project: string; to: string }) {
  const { transport, requiresVerifiedDomain } = useAppState();
  const { data: domains, error, refetch } = useDomains(project);
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />;
  if (domains === undefined) return <Skeleton height={180} mt="md" />;
  const domain = senderDomain(domains);
  const isAccepted = !requiresVerifiedDomain || domain?.status === "VERIFIED";
  const isCapturing = transport === "capture";
  if (!isAccepted && !isCapturing) return <DomainNeeded project={project} domain={domain} />;
  return (
    <MailForm
      project={project}
      to={to}
      from={`hello@${domain?.domain ?? to.slice(to.lastIndexOf("@") + 1)}`}
      isOnlyForUser={!isAccepted}
    />
  );
}

/** The form, and then a link to the record of the mail, which shows its delivery. */
function MailForm(props: {
  project: string;
  to: string;
  from: string;
  /** The domain is not verified: captured mail is accepted, but only to the user. */
  isOnlyForUser: boolean;
}) {
  const { project, to, from, isOnlyForUser } = props;
  const { requiresVerifiedDomain } = useAppState();
  const [emailId, setEmailId] = useState<string | null>(null);
  const form = useApiForm({
    initial: { to, from },
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
        {isOnlyForUser && (
          <p className="muted">
            This server catches mail and sends nothing. Until your domain is verified, it accepts
            mail to your own address only.
          </p>
        )}
        <TextInput
          label="To"
          readOnly={isOnlyForUser}
          type="email"
          required
          withAsterisk={false}
          {...form.field("to")}
        />
        <TextInput
          label="From"
          description={
            requiresVerifiedDomain && !isOnlyForUser ? "Its domain must be verified." : undefined
          }
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
