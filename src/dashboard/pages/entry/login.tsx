/** Sign-in with email address and password, and the request for a link to a new password. */

import { Anchor, Button, PasswordInput, Stack, TextInput } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api.ts";
import { hasPasskeys, signWithPasskey } from "../../passkey.ts";
import { useAppState } from "../../state.ts";
import { Problem } from "../../ui/problem.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { useEnter } from "./enter.ts";
import { EntryCard } from "./frame.tsx";
import { PasskeyButton } from "./passkey-button.tsx";

const route = getRouteApi("/entry/login");

export function LoginPage() {
  const [isForgotten, setIsForgotten] = useState(false);
  return isForgotten ? (
    <Forgotten onBack={() => setIsForgotten(false)} />
  ) : (
    <Login onForgotten={() => setIsForgotten(true)} />
  );
}

function Login({ onForgotten }: { onForgotten: () => void }) {
  const { next } = route.useSearch();
  const { dev } = useAppState();
  const enter = useEnter();
  const form = useApiForm({
    initial: { email: "", password: "" },
    submit: (values) => api.post("/app/api/login", values, { project: null }),
    onDone: () => enter(next),
  });
  return (
    <EntryCard title="Sign in">
      <form onSubmit={form.onSubmit} className="entry-form">
        <Stack gap="md">
          <TextInput
            label="Email address"
            type="email"
            autoComplete="username"
            required
            withAsterisk={false}
            autoFocus
            {...form.field("email")}
          />
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            required
            withAsterisk={false}
            {...form.field("password")}
          />
          {form.error !== null && <Problem error={form.error} />}
          <Button type="submit" fullWidth loading={form.isBusy}>
            Sign in
          </Button>
          {hasPasskeys() && (
            <PasskeyButton
              fullWidth
              run={async () => {
                const passkey = await signWithPasskey("/app/api/passkey/options");
                await api.post("/app/api/passkey", passkey, { project: null });
                await enter(next);
              }}
            >
              Sign in with a passkey
            </PasskeyButton>
          )}
          {dev && isThisMachine() && (
            <Button component="a" href="/" variant="default" fullWidth>
              Sign in as the developer
            </Button>
          )}
          <Anchor component="button" type="button" size="sm" onClick={onForgotten}>
            Forgot your password?
          </Anchor>
        </Stack>
      </form>
    </EntryCard>
  );
}

function Forgotten({ onBack }: { onBack: () => void }) {
  /** Null before the request. */
  const [isMailEnabled, setIsMailEnabled] = useState<boolean | null>(null);
  const form = useApiForm({
    initial: { email: "" },
    submit: (values) =>
      api.post<{ isMailEnabled: boolean }>("/app/api/reset-request", values, { project: null }),
    onDone: (answer: { isMailEnabled: boolean }) => setIsMailEnabled(answer.isMailEnabled),
  });
  return (
    <EntryCard
      title="Choose a new password"
      text="You will receive a link that is valid for an hour."
    >
      <form onSubmit={form.onSubmit} className="entry-form">
        <Stack gap="md">
          <TextInput
            label="Email address"
            type="email"
            autoComplete="username"
            required
            withAsterisk={false}
            autoFocus
            {...form.field("email")}
          />
          {form.error !== null && <Problem error={form.error} />}
          {isMailEnabled !== null && (
            <p role="status">
              {isMailEnabled
                ? "If this address has an account, the link is on its way. "
                : "This server cannot send mail at present. "}
              The operator can make a sign-in link with <code>mailstead user link</code>.
            </p>
          )}
          <Button type="submit" fullWidth loading={form.isBusy}>
            Send the link
          </Button>
          <Anchor component="button" type="button" size="sm" onClick={onBack}>
            Back to sign-in
          </Anchor>
        </Stack>
      </form>
    </EntryCard>
  );
}

/** Where the server signs browsers in without a password, if it is `mailstead dev`. */
const isThisMachine = (): boolean =>
  /^(?:localhost|.+\.localhost|127\.[\d.]+|\[::1\])$/.test(window.location.hostname);
