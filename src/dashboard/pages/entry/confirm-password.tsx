/**
 * Asks for the password again before actions that need a fresh sign-in, such as showing a key. A user
 * who has none, because a link signed them in, chooses one here.
 */

import { Button, Group, Modal, PasswordInput, Stack } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api.ts";
import { Problem } from "../../ui/problem.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { NewPassword } from "./new-password.tsx";

type Props = {
  isOpen: boolean;
  /** True after the server accepted the password, false if the user declined. */
  onAnswer: (isConfirmed: boolean) => void;
};

export function ConfirmPassword({ isOpen, onAnswer }: Props) {
  const { data, error } = useQuery({
    queryKey: ["account", "profile"],
    queryFn: ({ signal }) =>
      api.get<{ hasPassword: boolean }>("/app/api/account", { project: null, signal }),
    enabled: isOpen,
  });
  const isNew = data?.hasPassword === false;
  return (
    <Modal
      opened={isOpen}
      onClose={() => onAnswer(false)}
      title={isNew ? "Choose a password" : "Enter your password"}
      size="sm"
    >
      {error !== null && <Problem error={error} />}
      {data !== undefined && <PasswordForm isNew={isNew} onAnswer={onAnswer} />}
    </Modal>
  );
}

function PasswordForm({ isNew, onAnswer }: Omit<Props, "isOpen"> & { isNew: boolean }) {
  const client = useQueryClient();
  const form = useApiForm({
    initial: { password: "" },
    submit: (values) =>
      api.post(isNew ? "/app/api/account/password" : "/app/api/confirm", values, {
        project: null,
      }),
    onDone: async () => {
      form.form.reset();
      onAnswer(true);
      await client.invalidateQueries({ queryKey: ["account"] });
    },
  });
  const field = { ...form.field("password"), "data-autofocus": true, autoFocus: true };
  return (
    <form onSubmit={form.onSubmit}>
      <Stack gap="md">
        <p className="muted">
          {isNew
            ? "This action needs a password, and your account has none yet."
            : "This action needs it once more. It is then valid for 15 minutes."}
        </p>
        {isNew ? (
          <NewPassword {...field} />
        ) : (
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            required
            withAsterisk={false}
            {...field}
          />
        )}
        {form.error !== null && <Problem error={form.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={() => onAnswer(false)}>
            Cancel
          </Button>
          <Button type="submit" loading={form.isBusy}>
            Continue
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
