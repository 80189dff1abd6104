/** The step after the password: the second factor, or its set-up if the installation wants one. */

import { Anchor, Button, Stack } from "@mantine/core";
import { getRouteApi, Navigate } from "@tanstack/react-router";
import { useState } from "react";
import { hasPasskeys } from "../../passkey.ts";
import { useSignOut } from "../../sidebar.tsx";
import { useAppState } from "../../state.ts";
import { AddPasskey } from "../account/add-passkey.tsx";
import { RecoveryCodes } from "../account/recovery-codes.tsx";
import { TotpSetUp } from "../account/totp-set-up.tsx";
import { useSecondFactor } from "../account/use-second-factor.ts";
import { useEnter } from "./enter.ts";
import { EntryCard } from "./frame.tsx";
import { SecondStepForm } from "./second-step-form.tsx";

const route = getRouteApi("/entry/second-step");

export function SecondStepPage() {
  const { next } = route.useSearch();
  const { pending } = useAppState();
  const enter = useEnter();
  const signOut = useSignOut();
  // After the last step the codes are shown, while nothing is pending any more.
  const [step] = useState(pending?.step ?? null);
  if (step === null) return <Navigate to="/login" />;
  if (step === "ENROLMENT") return <Enrolment onDone={() => void enter(next)} />;
  return (
    <EntryCard title="Second step" text={`Prove that you are ${pending?.email ?? "you"}.`}>
      <Stack gap="md" mt="lg">
        <SecondStepForm onDone={() => enter(next)} />
        <Anchor component="button" type="button" size="sm" onClick={() => void signOut()}>
          Sign in as someone else
        </Anchor>
      </Stack>
    </EntryCard>
  );
}

type Kind = "app" | "passkey";

function Enrolment({ onDone }: { onDone: () => void }) {
  const [kind, setKind] = useState<Kind | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const { data } = useSecondFactor({ isFirst: true });
  if (codes !== null) {
    return (
      <EntryCard title="Keep your recovery codes">
        <RecoveryCodes codes={codes} onDone={onDone} />
      </EntryCard>
    );
  }
  const done = (recoveryCodes: readonly string[] | null) =>
    recoveryCodes === null ? onDone() : setCodes(recoveryCodes);
  return (
    <EntryCard
      title="Set up a second factor"
      text="This installation wants your account to have one. It takes a minute."
    >
      <Stack gap="md" mt="lg">
        {kind === null && (
          <>
            {data?.canUsePasskeys === true && hasPasskeys() && (
              <Button onClick={() => setKind("passkey")}>Use a passkey</Button>
            )}
            <Button variant="default" onClick={() => setKind("app")}>
              Use an authenticator app
            </Button>
          </>
        )}
        {kind === "app" && <TotpSetUp onDone={done} onCancel={() => setKind(null)} />}
        {kind === "passkey" && <AddPasskey onDone={done} onCancel={() => setKind(null)} />}
      </Stack>
    </EntryCard>
  );
}
