/** A new passkey: its name, and the dialog of the browser that makes it. */

import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { api } from "../../api.ts";
import { makePasskey } from "../../passkey.ts";
import { PasskeyButton } from "../entry/passkey-button.tsx";
import { browserOf } from "./browser-of.ts";

type Added = { recoveryCodes: string[] | null };

export function AddPasskey(props: {
  /** Gets the recovery codes, which are shown once; null if the user has some. */
  onDone: (recoveryCodes: readonly string[] | null) => void;
  onCancel: () => void;
}) {
  const { onDone, onCancel } = props;
  const [name, setName] = useState(() => browserOf(navigator.userAgent));
  async function add(): Promise<void> {
    const passkey = { name: name.trim(), ...(await makePasskey()) };
    const added = await api.post<Added>("/app/api/account/passkeys", passkey, { project: null });
    onDone(added.recoveryCodes);
  }
  return (
    <Stack gap="md">
      <p className="muted">
        A passkey signs you in with your fingerprint, your face or the PIN of this device or
        security key, without a password.
      </p>
      <TextInput
        label="Name of the passkey"
        description="You see it in the list, to know which one to remove."
        value={name}
        maxLength={100}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        autoComplete="off"
        data-autofocus
      />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <PasskeyButton variant="filled" disabled={name.trim() === ""} run={add}>
          Make the passkey
        </PasskeyButton>
      </Group>
    </Stack>
  );
}
