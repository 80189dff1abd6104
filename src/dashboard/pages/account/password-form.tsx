import { Button, PasswordInput, Stack } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api.ts";
import { Problem } from "../../ui/problem.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { NewPassword } from "../entry/new-password.tsx";

/** A new password, which ends all other sessions. Accounts made by command have none at first. */
export function PasswordForm({ email }: { email: string }) {
  const client = useQueryClient();
  const { data, error } = useQuery({
    queryKey: ["account", "profile"],
    queryFn: ({ signal }) =>
      api.get<{ hasPassword: boolean }>("/app/api/account", { project: null, signal }),
  });
  const [isDone, setIsDone] = useState(false);
  const form = useApiForm({
    initial: { current: "", password: "" },
    submit: ({ current, password }) =>
      api.post("/app/api/account/password", current === "" ? { password } : { current, password }, {
        project: null,
      }),
    onDone: async () => {
      form.form.reset();
      setIsDone(true);
      await client.invalidateQueries({ queryKey: ["account"] });
    },
  });
  if (error !== null) return <Problem error={error} />;
  if (data === undefined) return null;
  return (
    <form onSubmit={form.onSubmit}>
      <Stack gap="md" align="flex-start">
        {/* Password managers find the account by it. */}
        <input type="hidden" autoComplete="username" value={email} readOnly />
        {data.hasPassword && (
          <PasswordInput
            className="wide"
            label="Current password"
            description="Not needed within 15 minutes after a sign-in link."
            autoComplete="current-password"
            {...form.field("current")}
          />
        )}
        <NewPassword className="wide" {...form.field("password")} label="New password" />
        {form.error !== null && <Problem error={form.error} />}
        <Button type="submit" variant="default" loading={form.isBusy}>
          {data.hasPassword ? "Change the password" : "Set a password"}
        </Button>
        <p className="muted small" role="status">
          {isDone ? "The password is changed. All other sessions have ended." : ""}
        </p>
      </Stack>
    </form>
  );
}
