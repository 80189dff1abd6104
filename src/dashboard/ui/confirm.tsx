import { Button, Group, Stack, TextInput } from "@mantine/core";
import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { Dialog } from "./dialog.tsx";
import { Problem } from "./problem.tsx";

/**
 * Asks before an action that cannot be undone. With `name`, the button works after the name was
 * typed. An error of the action is shown in the dialog, which stays open.
 */
export function Confirm(props: {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  /** Names the data that will be lost, in one or two sentences. */
  text: ReactNode;
  /** The name to type, for the major actions. */
  name?: string;
  /** A verb and its object: "Delete the contact". */
  action: string;
  /** The button that changes nothing; "Cancel" by default. */
  refusal?: string;
  /** Brand for an action that loses no data, such as sending; red by default. */
  color?: "red" | "brand";
  onConfirm: () => Promise<unknown>;
}) {
  const { isOpen, onClose, title, text, name, action, color = "red", onConfirm } = props;
  const { refusal = "Cancel" } = props;
  const [typed, setTyped] = useState("");
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    if (!isOpen) return;
    setTyped("");
    setError(null);
  }, [isOpen]);

  async function confirm(event: FormEvent): Promise<void> {
    event.preventDefault();
    // The dialog may be an element of a form, which React would submit as well.
    event.stopPropagation();
    setIsBusy(true);
    try {
      await onConfirm();
      onClose();
    } catch (caught) {
      setError(caught);
    } finally {
      setIsBusy(false);
    }
  }

  return (
    <Dialog opened={isOpen} onClose={onClose} isBusy={isBusy} title={title} size="md">
      <form onSubmit={(event) => void confirm(event)}>
        <Stack gap="md">
          <div>{text}</div>
          {name !== undefined && (
            <TextInput
              label={`Type ${name} to confirm`}
              value={typed}
              onChange={({ currentTarget }) => setTyped(currentTarget.value)}
              autoComplete="off"
              data-autofocus
            />
          )}
          {error !== null && <Problem error={error} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" disabled={isBusy} onClick={onClose}>
              {refusal}
            </Button>
            <Button
              type="submit"
              color={color}
              loading={isBusy}
              disabled={name !== undefined && typed !== name}
            >
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
