/** The root of every page: the outlet of the router, and the messages for a lost session or connection. */

import { useQueryClient } from "@tanstack/react-query";
import { Outlet } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { setApiEvents } from "./api.ts";
import { setConnected } from "./connection.ts";
import { lazyPart, Once } from "./lazy.tsx";
import { stateQuery } from "./state.ts";

const SessionEnd = lazyPart(async () => (await import("./pages/entry/session-end.tsx")).SessionEnd);

const ConfirmPassword = lazyPart(
  async () => (await import("./pages/entry/confirm-password.tsx")).ConfirmPassword,
);

export function Root() {
  const client = useQueryClient();
  const [hasEnded, setHasEnded] = useState(false);
  /** Resolves the question for the password; null while it is not asked. */
  const [question, setQuestion] = useState<((isConfirmed: boolean) => void) | null>(null);

  useEffect(() => {
    setApiEvents({
      onSignedOut: () => {
        const user = client.getQueryData(stateQuery.queryKey)?.user ?? null;
        setHasEnded(user !== null);
      },
      confirm: () => new Promise((resolve) => setQuestion(() => resolve)),
      onRightsChanged: () => void client.invalidateQueries({ queryKey: stateQuery.queryKey }),
      onConnection: setConnected,
    });
  }, [client]);

  async function resume(): Promise<void> {
    setHasEnded(false);
    await client.invalidateQueries();
  }

  function answer(isConfirmed: boolean): void {
    question?.(isConfirmed);
    setQuestion(null);
  }

  return (
    <>
      <Outlet />
      <Once isOn={question !== null}>
        <ConfirmPassword isOpen={question !== null} onAnswer={answer} />
      </Once>
      <Once isOn={hasEnded}>
        <SessionEnd isOpen={hasEnded} onResume={() => void resume()} />
      </Once>
    </>
  );
}
