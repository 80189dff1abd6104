/** A link that signs a user in once, to pass on. */

import { Button, Group, Stack, TextInput } from "@mantine/core";
import { Check, Copy } from "lucide-react";
import { useEffect, useRef } from "react";
import { useCopy } from "../../ui/copy.tsx";
import { Time } from "../../ui/time.tsx";

export type SignInLink = { link: string; expiresAt: string };

export function ShownLink(props: { email: string; given: SignInLink; onDone: () => void }) {
  const { email, given, onDone } = props;
  const { isCopied, copy } = useCopy();
  const button = useRef<HTMLButtonElement>(null);
  // The button of the form, which had the focus, is gone.
  useEffect(() => button.current?.focus(), []);
  return (
    <Stack gap="md">
      <p>
        Give this link to {email}, in a way that only this person reads: it signs in as this user,
        who then sets a password. A second factor is still asked for. It is shown only now.
      </p>
      <Group gap="xs" align="flex-end">
        <TextInput
          className="grow"
          classNames={{ input: "mono" }}
          aria-label="Sign-in link"
          readOnly
          value={given.link}
          onFocus={({ currentTarget }) => currentTarget.select()}
        />
        <Button
          ref={button}
          leftSection={isCopied ? <Check size={16} /> : <Copy size={16} />}
          onClick={() => void copy(given.link)}
        >
          {isCopied ? "Copied" : "Copy the link"}
        </Button>
      </Group>
      <p className="muted small">
        The link works once and expires <Time at={given.expiresAt} as="due" />.
      </p>
      <Group justify="flex-end">
        <Button variant="default" onClick={onDone}>
          Done
        </Button>
      </Group>
    </Stack>
  );
}
