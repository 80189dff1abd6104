/** The second step of a sign-in: a code of the app, a recovery code, or a passkey. */

import { Anchor, Button, Loader, Stack, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api.ts";
import { hasPasskeys, signWithPasskey } from "../../passkey.ts";
import { isSessionEnd } from "../../ui/error-text.ts";
import { Problem } from "../../ui/problem.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { PasskeyButton } from "./passkey-button.tsx";

type Methods = { hasApp: boolean; hasPasskeys: boolean };

const OPEN = { project: null };
const PATH = "/app/api/second-factor";

export function SecondStepForm({ onDone }: { onDone: () => void | Promise<void> }) {
  const { data, error } = useQuery({
    queryKey: ["second-factor-methods"],
    queryFn: ({ signal }) => api.get<Methods>(PATH, { ...OPEN, signal }),
    retry: false,
    staleTime: 0,
  });
  const [isRecovery, setIsRecovery] = useState(false);
  if (isSessionEnd(error)) return <TooLate />;
  if (error !== null) return <Problem error={error} />;
  if (data === undefined) return <Loader size="sm" mt="md" />;
  const canSign = data.hasPasskeys && hasPasskeys();
  return (
    <Stack gap="md">
      {canSign && !isRecovery && (
        <PasskeyButton
          fullWidth
          variant={data.hasApp ? "default" : "filled"}
          run={async () => {
            await api.post(PATH, { passkey: await signWithPasskey(`${PATH}/options`) }, OPEN);
            await onDone();
          }}
        >
          Use a passkey
        </PasskeyButton>
      )}
      {(data.hasApp || isRecovery) && (
        <CodeForm key={String(isRecovery)} isRecovery={isRecovery} onDone={onDone} />
      )}
      <Anchor component="button" type="button" size="sm" onClick={() => setIsRecovery(!isRecovery)}>
        {isRecovery ? "Back" : "Use a recovery code"}
      </Anchor>
    </Stack>
  );
}

function CodeForm(props: { isRecovery: boolean; onDone: () => void | Promise<void> }) {
  const { isRecovery, onDone } = props;
  const form = useApiForm({
    initial: { code: "" },
    submit: ({ code }) => api.post(PATH, { code: code.trim() }, OPEN),
    onDone: () => onDone(),
  });
  if (isSessionEnd(form.error)) return <TooLate />;
  return (
    <form onSubmit={form.onSubmit}>
      <Stack gap="md">
        <TextInput
          label={isRecovery ? "Recovery code" : "Code of your authenticator app"}
          description={
            isRecovery ? "One of the codes that you were shown. Each works once." : undefined
          }
          classNames={{ input: "mono" }}
          autoComplete={isRecovery ? "off" : "one-time-code"}
          inputMode={isRecovery ? "text" : "numeric"}
          maxLength={40}
          spellCheck={false}
          required
          withAsterisk={false}
          autoFocus
          data-autofocus
          {...form.field("code")}
        />
        {form.error !== null && <Problem error={form.error} />}
        <Button type="submit" fullWidth loading={form.isBusy}>
          Continue
        </Button>
      </Stack>
    </form>
  );
}

function TooLate() {
  return (
    <p role="alert">
      This took too long. <Anchor href="/app/login">Sign in again</Anchor>.
    </p>
  );
}
