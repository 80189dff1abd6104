import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { errorText } from "./error-text.ts";

/** Time in which an action can be undone. */
export const UNDO_MS = 8_000;

/** Says what was done, with a button that undoes it. Returns a function that removes the message. */
export function showUndo(options: { text: string; onUndo: () => void }): () => void {
  const { text, onUndo } = options;
  const id = notifications.show({
    autoClose: UNDO_MS,
    withCloseButton: false,
    className: "undo",
    message: (
      <div className="undo-line">
        <span>{text}</span>
        <Button
          size="compact-sm"
          variant="light"
          onClick={() => {
            notifications.hide(id);
            onUndo();
          }}
        >
          Undo
        </Button>
      </div>
    ),
  });
  return () => notifications.hide(id);
}

/** Says that something was done that cannot be undone. */
export function showDone(text: string): void {
  notifications.show({ message: text, closeButtonProps: { "aria-label": "Close" } });
}

/** Says that something did not work, with the reason. */
export function showFailure(text: string, error: unknown): void {
  notifications.show({
    color: "red",
    title: text,
    message: errorText(error),
    closeButtonProps: { "aria-label": "Close" },
  });
}
