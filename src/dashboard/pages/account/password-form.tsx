import { Button, PasswordInput, Stack } from "@mantine/core";
import { useState } from "react";
import { api } from "../../api.ts";
import { Problem } from "../../ui/problem.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { NewPassword } from "../entry/new-password.tsx";

/** A new password, which ends all other sessions. */
export function PasswordForm() {
  const [isDone, setIsDone] = useState(false);
  const form = useApiForm({
    initial: { current: "", password: "" },
    submit: (values) => api.post("/app/api/account/password", values, { project: null }),
    onDone: () => {
      form.form.reset();
      setIsDone(true);
    },
  });
  return (
    <form onSubmit={form.onSubmit}>
      <Stack gap="md" align="flex-start">
        <PasswordInput
          className="wide"
          label="Current password"
          autoComplete="current-password"
          required
          withAsterisk={false}
          {...form.field("current")}
        />
        <NewPassword className="wide" {...form.field("password")} label="New password" />
        {form.error !== null && <Problem error={form.error} />}
        <Button type="submit" variant="default" loading={form.isBusy}>
          Change the password
        </Button>
        <p className="muted small" role="status">
          {isDone ? "The password is changed. All other sessions have ended." : ""}
        </p>
      </Stack>
    </form>
  );
}
