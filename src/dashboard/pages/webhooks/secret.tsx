import { Button, Group, Stack, TextInput } from "@mantine/core";
import { Check, Copy } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { Code } from "../../ui/code.tsx";
import { useCopy } from "../../ui/copy.tsx";
import { verifySamples } from "./samples.ts";

/** Shows the secret of a webhook, once, with a button that copies it and code that uses it. */
export function Secret(props: {
  secret: string;
  /** One or two sentences that tell the reader where the secret belongs. */
  children: ReactNode;
  /** The secret was copied, so it is safe to close the dialog. */
  onCopied: () => void;
  onDone: () => void;
}) {
  const { secret, children, onCopied, onDone } = props;
  const { isCopied, copy } = useCopy();
  const button = useRef<HTMLButtonElement>(null);
  // The button of the step before, which had the focus, is gone.
  useEffect(() => button.current?.focus(), []);
  async function copySecret(): Promise<void> {
    if (await copy(secret)) onCopied();
  }
  return (
    <Stack gap="md">
      <p>{children}</p>
      <div className="new-key">
        <TextInput
          className="grow"
          classNames={{ input: "mono" }}
          aria-label="The secret"
          readOnly
          value={secret}
          onFocus={({ currentTarget }) => currentTarget.select()}
          onCopy={onCopied}
        />
        <Button
          ref={button}
          leftSection={isCopied ? <Check size={16} /> : <Copy size={16} />}
          onClick={() => void copySecret()}
        >
          {isCopied ? "Copied" : "Copy the secret"}
        </Button>
      </div>
      <Code label="Checking the signature" samples={verifySamples("whsec_YOUR_SECRET")} />
      <Group justify="flex-end">
        <Button variant="default" onClick={onDone}>
          I have it
        </Button>
      </Group>
    </Stack>
  );
}
