/** Asks for the password again before actions that need a fresh sign-in, such as showing a key. */

import { PasswordInput, Stack } from "@mantine/core";
import { api } from "../../api.ts";
import { hasPasskeys, signWithPasskey } from "../../passkey.ts";
import { useSecondFactor } from "../account/use-second-factor.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { DialogForm } from "../../ui/dialog-form.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { PasskeyButton } from "./passkey-button.tsx";

export function ConfirmPassword(props: {
  isOpen: boolean;
  /** True after the server accepted the password, false if the user declined. */
  onAnswer: (isConfirmed: boolean) => void;
}) {
  const { isOpen, onAnswer } = props;
  const { data } = useSecondFactor();
  const form = useApiForm({
    initial: { password: "" },
    submit: (values) => api.post("/app/api/confirm", values, { project: null }),
    onDone: () => {
      form.form.reset();
      onAnswer(true);
    },
  });
  const passkey = hasPasskeys() && data !== undefined && data.passkeys.length > 0 && (
    <PasskeyButton
      run={async () => {
        const signed = await signWithPasskey("/app/api/confirm/options");
        await api.post("/app/api/confirm", { passkey: signed }, { project: null });
        onAnswer(true);
      }}
    >
      Use a passkey
    </PasskeyButton>
  );
  const text = "This action needs it once more. It is then valid for 15 minutes.";
  if (data?.hasPassword === false) {
    return (
      <Dialog opened={isOpen} onClose={() => onAnswer(false)} title="Use your passkey" size="sm">
        <Stack gap="md">
          <p className="muted">{text}</p>
          {passkey}
        </Stack>
      </Dialog>
    );
  }
  return (
    <Dialog opened={isOpen} onClose={() => onAnswer(false)} title="Enter your password" size="sm">
      <DialogForm form={form} action="Continue" onCancel={() => onAnswer(false)}>
        <p className="muted">{text}</p>
        {passkey}
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          withAsterisk={false}
          data-autofocus
          {...form.field("password")}
        />
      </DialogForm>
    </Dialog>
  );
}
