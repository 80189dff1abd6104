import { Button, Group, Stack, TextInput } from "@mantine/core";
import { Check, Copy } from "lucide-react";
import { useEffect, useRef } from "react";
import { useAppState } from "../../state.ts";
import { Code } from "../../ui/code.tsx";
import { useCopy } from "../../ui/copy.tsx";
import type { Created } from "./create-key.tsx";
import { keySamples } from "./samples.ts";

/** Shows a new key with a button that copies it, and the first requests with it. */
export function NewKey(props: {
  created: Created;
  /** The key was copied, so it is safe to close the dialog. */
  onCopied: () => void;
  onDone: () => void;
}) {
  const { created, onCopied, onDone } = props;
  const { url, user } = useAppState();
  const { isCopied, copy } = useCopy();
  const base = url === "" ? window.location.origin : url;
  const place = { base, email: user?.email ?? "ada@example.com" };
  const button = useRef<HTMLButtonElement>(null);
  // The button of the form, which had the focus, is gone.
  useEffect(() => button.current?.focus(), []);
  async function copyKey(): Promise<void> {
    if (await copy(created.text)) onCopied();
  }
  return (
    <Stack gap="md">
      <p>
        This is the only time that the key <strong>{created.name}</strong> is shown. Copy it to a
        safe place, such as a password manager or the secrets of your server.
      </p>
      <div className="new-key">
        <TextInput
          className="grow"
          classNames={{ input: "mono" }}
          aria-label="The new key"
          readOnly
          value={created.text}
          onFocus={({ currentTarget }) => currentTarget.select()}
          onCopy={onCopied}
        />
        <Button
          ref={button}
          leftSection={isCopied ? <Check size={16} /> : <Copy size={16} />}
          onClick={() => void copyKey()}
        >
          {isCopied ? "Copied" : "Copy the key"}
        </Button>
      </div>
      <Code label="The first request with the key" samples={keySamples(created, place)} />
      <Group justify="flex-end">
        <Button variant="default" onClick={onDone}>
          I have it
        </Button>
      </Group>
    </Stack>
  );
}
