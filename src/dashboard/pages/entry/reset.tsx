/** A new password, by the token of a link in a mail. */

import { Button, Stack } from "@mantine/core";
import { api } from "../../api.ts";
import { Problem } from "../../ui/problem.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { useEnter } from "./enter.ts";
import { EntryCard, tokenOfLink } from "./frame.tsx";
import { NewPassword } from "./new-password.tsx";

export function ResetPage() {
  const enter = useEnter();
  const form = useApiForm({
    initial: { password: "" },
    submit: ({ password }) =>
      api.post("/app/api/reset", { token: tokenOfLink(), password }, { project: null }),
    onDone: () => enter(),
  });
  return (
    <EntryCard title="Choose a new password" text="All other sessions of your account end.">
      <form onSubmit={form.onSubmit} className="entry-form">
        <Stack gap="md">
          <NewPassword {...form.field("password")} />
          {form.error !== null && <Problem error={form.error} />}
          <Button type="submit" fullWidth loading={form.isBusy}>
            Set the password and sign in
          </Button>
        </Stack>
      </form>
    </EntryCard>
  );
}
