/** A button that asks the browser for a passkey, and shows why it failed. */

import { Button, type ButtonProps } from "@mantine/core";
import { KeyRound } from "lucide-react";
import { type ReactNode, useState } from "react";
import { PasskeyCancelled, PasskeyFailed } from "../../passkey.ts";
import { Problem } from "../../ui/problem.tsx";

export function PasskeyButton(
  props: ButtonProps & { children: ReactNode; run: () => Promise<void> },
) {
  const { run, children, ...rest } = props;
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  async function start(): Promise<void> {
    setIsBusy(true);
    setError(null);
    try {
      await run();
    } catch (caught) {
      // The user has closed the dialog of the browser on purpose.
      if (!(caught instanceof PasskeyCancelled)) setError(caught);
    } finally {
      setIsBusy(false);
    }
  }
  return (
    <>
      <Button
        variant="default"
        leftSection={<KeyRound size={15} aria-hidden />}
        {...rest}
        loading={isBusy}
        onClick={() => void start()}
      >
        {children}
      </Button>
      {error instanceof PasskeyFailed ? (
        <p role="alert">{error.message}</p>
      ) : (
        error !== null && <Problem error={error} />
      )}
    </>
  );
}
