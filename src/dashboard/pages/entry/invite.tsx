/**
 * An invitation: shows the project and the role, and creates the account if there is none. The user
 * of an existing account signs in here, unless this browser is signed in as this user.
 */

import { Button, Loader, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { api } from "../../api.ts";
import { type Role, stateQuery } from "../../state.ts";
import { Problem } from "../../ui/problem.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { useEnter } from "./enter.ts";
import { EntryCard, tokenOfLink } from "./frame.tsx";
import { NewPassword } from "./new-password.tsx";

type Invitation = {
  email: string;
  project: { id: string; name: string };
  role: Role;
  /** The link makes an account, for which a name and a password are needed. */
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
  const { data: state } = useQuery(stateQuery);
  const needsSignIn = !needsPassword && state?.user?.email !== email;
  const form = useApiForm({
    initial: { name: "", password: "" },
    submit: async ({ name, password }) => {
      const open = { project: null };
      if (needsSignIn) {
        const login = { email, password };
        const { step } = await api.post<{ step: string | null }>("/app/api/login", login, open);
        // The second step comes back to this page, which then accepts.
        if (step !== null) return `/invite#${token}`;
      }
      const account = needsPassword ? { name, password } : {};
      await api.post("/app/api/invitation/accept", { token, ...account }, open);
      return "/";
    },
    onDone: (next: string) => enter(next),
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
          {needsSignIn && (
            <PasswordInput
              label="Password of your account"
              autoComplete="current-password"
              required
              withAsterisk={false}
              autoFocus
              {...form.field("password")}
            />
          )}
          {form.error !== null && <Problem error={form.error} />}
          <Button type="submit" fullWidth loading={form.isBusy}>
            {needsSignIn ? "Sign in and accept the invitation" : "Accept the invitation"}
          </Button>
        </Stack>
      </form>
    </EntryCard>
  );
}
