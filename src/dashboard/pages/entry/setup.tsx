/** The first start: creates the owner by the token of the link that `mailstead serve` prints. */

import { Button, Stack, TextInput } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { api } from "../../api.ts";
import { useAppState } from "../../state.ts";
import { Problem } from "../../ui/problem.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { useEnter } from "./enter.ts";
import { EntryCard, tokenOfLink } from "./frame.tsx";
import { NewPassword } from "./new-password.tsx";

export function SetupPage() {
  const { needsOwner } = useAppState();
  const token = tokenOfLink();
  if (!needsOwner) return <AlreadyDone />;
  if (token === "") return <NoToken />;
  return <CreateOwner token={token} />;
}

function CreateOwner({ token }: { token: string }) {
  const enter = useEnter();
  const form = useApiForm({
    initial: { name: "", email: "", password: "" },
    submit: (values) => api.post("/app/api/setup", { token, ...values }, { project: null }),
    onDone: () => enter("/welcome"),
  });
  return (
    <EntryCard
      title="Set up Mailstead"
      text="Your account will be the owner of this installation: it manages projects, users and the system."
    >
      <form onSubmit={form.onSubmit} className="entry-form">
        <Stack gap="md">
          <TextInput
            label="Your name"
            autoComplete="name"
            required
            withAsterisk={false}
            autoFocus
            {...form.field("name")}
          />
          <TextInput
            label="Email address"
            type="email"
            autoComplete="username"
            required
            withAsterisk={false}
            {...form.field("email")}
          />
          <NewPassword {...form.field("password")} />
          {form.error !== null && <Problem error={form.error} />}
          <Button type="submit" fullWidth loading={form.isBusy}>
            Create the account
          </Button>
        </Stack>
      </form>
    </EntryCard>
  );
}

function NoToken() {
  return (
    <EntryCard
      title="Set up Mailstead"
      text="Open the link that the server printed when it started. It is valid for 30 minutes; a restart prints a new one."
    >
      <p className="muted">
        Or create the owner in a terminal: <code>mailstead user add you@example.com --owner</code>
      </p>
    </EntryCard>
  );
}

function AlreadyDone() {
  const navigate = useNavigate();
  return (
    <EntryCard title="Mailstead is set up" text="This installation has an owner already.">
      <Stack gap="md" mt="md">
        <Button onClick={() => void navigate({ to: "/login" })}>Sign in</Button>
        <p className="muted small">
          Without a password, a sign-in link helps: <code>mailstead user link you@example.com</code>
          . <Link to="/">Start page</Link>
        </p>
      </Stack>
    </EntryCard>
  );
}
