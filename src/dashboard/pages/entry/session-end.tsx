/**
 * Asks for the password when the session ended while a page is open. The page stays as it is behind
 * the dialog, so that nothing that was typed is lost.
 */

import { Anchor, Button, PasswordInput, Stack } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api.ts";
import { hasPasskeys, signWithPasskey } from "../../passkey.ts";
import { stateQuery } from "../../state.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { PasskeyButton } from "./passkey-button.tsx";
import { SecondStepForm } from "./second-step-form.tsx";

export function SessionEnd({ isOpen, onResume }: { isOpen: boolean; onResume: () => void }) {
  const user = useQueryClient().getQueryData(stateQuery.queryKey)?.user;
  const email = user?.email ?? "";
  const [hasStep, setHasStep] = useState(false);
  const form = useApiForm({
    initial: { password: "" },
    submit: ({ password }) =>
      api.post<{ step: string | null }>("/app/api/login", { email, password }, { project: null }),
    onDone: ({ step }: { step: string | null }) => {
      form.form.reset();
      if (step === "ENROLMENT") window.location.assign("/app/second-step");
      else if (step === null) onResume();
      else setHasStep(true);
    },
  });
  async function signInAgain(): Promise<void> {
    const passkey = await signWithPasskey("/app/api/passkey/options");
    const signedIn = await api.post<{ user: { id: string } }>("/app/api/passkey", passkey, {
      project: null,
    });
    // The page is that of the user before.
    if (signedIn.user.id === user?.id) onResume();
    else window.location.assign("/app");
  }
  const resume = () => {
    setHasStep(false);
    onResume();
  };
  return (
    <Dialog
      opened={isOpen}
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title="Your session has ended"
      size="sm"
    >
      {hasStep ? (
        <SecondStepForm onDone={resume} />
      ) : (
        <form onSubmit={form.onSubmit}>
          <Stack gap="md">
            <p className="muted">Sign in as {email} to go on. The page keeps what you typed.</p>
            <PasswordInput
              label="Password"
              autoComplete="current-password"
              required
              withAsterisk={false}
              data-autofocus
              {...form.field("password")}
            />
            {form.error !== null && <Problem error={form.error} />}
            <Button type="submit" loading={form.isBusy}>
              Sign in
            </Button>
            {hasPasskeys() && (
              <PasskeyButton run={signInAgain}>Sign in with a passkey</PasskeyButton>
            )}
            <Anchor href="/app/login" size="sm">
              Sign in as someone else
            </Anchor>
          </Stack>
        </form>
      )}
    </Dialog>
  );
}
