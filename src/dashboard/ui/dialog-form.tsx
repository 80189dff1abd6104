/** Forms in dialogs. */

import { Button, Group, Stack, TextInput, type TextInputProps } from "@mantine/core";
import type { FormEvent, ReactNode } from "react";
import { useBusyDialog } from "./dialog.tsx";
import { Problem } from "./problem.tsx";

/** The fields of a form, what went wrong, and the buttons that cancel and submit it. */
export function DialogForm(props: {
  /** The form that `useApiForm` returned. */
  form: { onSubmit: (event: FormEvent<HTMLFormElement>) => void; error: unknown; isBusy: boolean };
  /** The words on the button that submits. */
  action: string;
  isIncomplete?: boolean;
  onCancel: () => void;
  /** The words on the button that closes the dialog. */
  cancel?: string;
  children: ReactNode;
}) {
  const { form, action, isIncomplete = false, onCancel, cancel = "Cancel", children } = props;
  useBusyDialog(form.isBusy);
  return (
    <form onSubmit={form.onSubmit}>
      <Stack gap="md">
        {children}
        {form.error !== null && <Problem error={form.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" disabled={form.isBusy} onClick={onCancel}>
            {cancel}
          </Button>
          <Button type="submit" loading={form.isBusy} disabled={isIncomplete}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** The field for an email address, which comes first in its dialog. */
export function AddressField(props: TextInputProps) {
  return (
    <TextInput
      label="Email address"
      type="email"
      required
      withAsterisk={false}
      autoComplete="off"
      spellCheck={false}
      data-autofocus
      {...props}
    />
  );
}
