/** Asks for the password again before actions that need a fresh sign-in, such as showing a key. */

import { Button, Group, Modal, PasswordInput, Stack } from "@mantine/core";
import { api } from "../../api.ts";
import { Problem } from "../../ui/problem.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";

export function ConfirmPassword(props: {
  isOpen: boolean;
  /** True after the server accepted the password, false if the user declined. */
  onAnswer: (isConfirmed: boolean) => void;
}) {
  const { isOpen, onAnswer } = props;
  const form = useApiForm({
    initial: { password: "" },
    submit: (values) => api.post("/app/api/confirm", values, { project: null }),
    onDone: () => {
      form.form.reset();
      onAnswer(true);
    },
  });
  return (
    <Modal opened={isOpen} onClose={() => onAnswer(false)} title="Enter your password" size="sm">
      <form onSubmit={form.onSubmit}>
        <Stack gap="md">
          <p className="muted">This action needs it once more. It is then valid for 15 minutes.</p>
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            required
            withAsterisk={false}
            data-autofocus
            {...form.field("password")}
          />
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
    </Modal>
  );
}
