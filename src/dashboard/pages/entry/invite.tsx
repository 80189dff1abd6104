/** An invitation: shows the project and the role, and creates the account if there is none. */

import { Button, Loader, Stack, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { api } from "../../api.ts";
import type { Role } from "../../state.ts";
import { Problem } from "../../ui/problem.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { useEnter } from "./enter.ts";
import { EntryCard, tokenOfLink } from "./frame.tsx";
import { NewPassword } from "./new-password.tsx";

type Invitation = {
  email: string;
  project: { id: string; name: string };
  role: Role;
  /** The address has no account yet. */
  needsPassword: boolean;
};

export function InvitePage() {
  const token = tokenOfLink();
  const { data, error } = useQuery({
    queryKey: ["invitation", token],
    queryFn: () => api.post<Invitation>("/app/api/invitation", { token }, { project: null }),
    retry: false,
    refetchOnWindowFocus: false,
  });
  if (error !== null) {
    return (
      <EntryCard title="This invitation does not work" text="Ask for a new one.">
        <Problem error={error} />
      </EntryCard>
    );
  }
  if (data === undefined) {
    return (
      <EntryCard title="Invitation">
        <Loader size="sm" mt="md" />
      </EntryCard>
    );
  }
  return <Accept token={token} invitation={data} />;
}

function Accept({ token, invitation }: { token: string; invitation: Invitation }) {
  const enter = useEnter();
  const { email, project, role, needsPassword } = invitation;
  const form = useApiForm({
    initial: { name: "", password: "" },
    submit: (values) =>
      api.post("/app/api/invitation/accept", needsPassword ? { token, ...values } : { token }, {
        project: null,
      }),
    onDone: ({ isSignedIn }: { isSignedIn: boolean }) => enter(isSignedIn ? "/" : "/login"),
  });
  return (
    <EntryCard
      title={`Join ${project.name}`}
      text={`${email} is invited as ${role.toLowerCase()}.`}
    >
      <form onSubmit={form.onSubmit} className="entry-form">
        <Stack gap="md">
          {needsPassword && (
            <>
              <TextInput
                label="Your name"
                autoComplete="name"
                required
                withAsterisk={false}
                autoFocus
                {...form.field("name")}
              />
              <NewPassword {...form.field("password")} />
            </>
          )}
          {form.error !== null && <Problem error={form.error} />}
          <Button type="submit" fullWidth loading={form.isBusy}>
            Accept the invitation
          </Button>
        </Stack>
      </form>
    </EntryCard>
  );
}
