import { Button, Group, Stack, TextInput } from "@mantine/core";
import { Check, Copy } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { useCopy } from "./copy.tsx";

/** A secret that is shown once, with a button that copies it, and what to do with it. */
export function ShownOnce(props: {
  secret: string;
  /** The kind of the secret, such as "key". */
  noun: string;
  /** One or two sentences that tell the reader where the secret belongs. */
  text: ReactNode;
  /** Code that uses the secret. */
  children: ReactNode;
  /** The secret was copied, so it is safe to close the dialog. */
  onCopied: () => void;
  onDone: () => void;
}) {
  const { secret, noun, text, children, onCopied, onDone } = props;
  const { isCopied, copy } = useCopy();
  const button = useRef<HTMLButtonElement>(null);
  // The button of the step before, which had the focus, is gone.
  useEffect(() => button.current?.focus(), []);
  async function copySecret(): Promise<void> {
    if (await copy(secret)) onCopied();
  }
  return (
    <Stack gap="md">
      <p>{text}</p>
      <div className="shown-once">
        <TextInput
          className="grow"
          classNames={{ input: "mono" }}
          aria-label={`The new ${noun}`}
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
          {isCopied ? "Copied" : `Copy the ${noun}`}
        </Button>
      </div>
      {children}
      <Group justify="flex-end">
        <Button variant="default" onClick={onDone}>
          I have it
        </Button>
      </Group>
    </Stack>
  );
}
