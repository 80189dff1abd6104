/** The test of a relay: its button, the address for a test mail, and the lines of the session. */

import { Button, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { RelayInput, RelayTest } from "../../../modules/settings/model.ts";
import { api } from "../../api.ts";
import { ConversationSteps } from "../../ui/message/conversation.tsx";
import { Problem } from "../../ui/problem.tsx";
import { RelayResult } from "../../ui/relay-fields.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";

/** `input` is the relay to test; without it, it is the relay of the settings. */
export function RelayTrial(props: {
  input?: () => RelayInput;
  canTest?: boolean;
  onResult?: (result: RelayTest) => void;
  children?: ReactNode;
}) {
  const { input, canTest = true, onResult, children } = props;
  const [result, setResult] = useState<RelayTest | null>(null);
  const form = useApiForm({
    initial: { to: "" },
    submit({ to }) {
      setResult(null);
      return api.post<RelayTest>(
        "/system/relay/test",
        {
          ...(input === undefined ? {} : { relay: input() }),
          ...(to.trim() === "" ? {} : { to: to.trim() }),
        },
        { project: null },
      );
    },
    onDone(tested) {
      setResult(tested);
      onResult?.(tested);
    },
  });
  return (
    <>
      <form className="server-relay-test" onSubmit={form.onSubmit}>
        {canTest && (
          <>
            <TextInput
              className="server-relay-test-to"
              label="Test mail to"
              placeholder="none: only log in"
              type="email"
              autoComplete="email"
              {...form.field("to")}
            />
            <Button type="submit" variant="default" loading={form.isBusy}>
              Test
            </Button>
          </>
        )}
        {children}
      </form>
      {form.error !== null && <Problem error={form.error} />}
      <div role="status">{result !== null && <Result result={result} />}</div>
    </>
  );
}

function Result({ result }: { result: RelayTest }) {
  const { problem, steps, tls, isAuthenticated, mail, notes } = result;
  const about =
    mail === null
      ? ""
      : `It accepted the mail from ${mail.from} to ${mail.to}: look whether it arrives.`;
  return (
    <RelayResult {...{ problem, tls, isAuthenticated, about, notes }}>
      <div className="conversation">
        <ConversationSteps steps={steps} />
      </div>
    </RelayResult>
  );
}
