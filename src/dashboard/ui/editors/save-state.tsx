/** Says in one line whether the object of an editor is saved, and if not, why. */

import "./styles.ts";
import { Button } from "@mantine/core";
import { Check, CircleAlert, CloudOff, LoaderCircle } from "lucide-react";
import type { AutosaveState } from "./autosave.ts";
import { saveText } from "./save-text.ts";

const ICONS = {
  SAVED: Check,
  CHANGED: LoaderCircle,
  SAVING: LoaderCircle,
  REFUSED: CircleAlert,
  WAITING: CloudOff,
  CONFLICT: CircleAlert,
} as const;
const TONES = { REFUSED: "failed", WAITING: "held", CONFLICT: "held" } as const;

export function SaveState(props: {
  editor: Pick<AutosaveState<unknown>, "status" | "savedAtMs" | "error" | "isKept">;
  /** Names the fields of the object in messages. */
  labels?: Readonly<Record<string, string>>;
  /** Opens the dialog with both versions again. */
  onCompare?: () => void;
}) {
  const { editor, labels = {}, onCompare } = props;
  const { status } = editor;
  const Icon = ICONS[status];
  const text = saveText(editor, labels);
  const isPassing = status === "CHANGED" || status === "SAVING";
  const tone = status === "SAVED" || isPassing ? undefined : TONES[status];
  return (
    <span className="save-state" data-tone={tone}>
      <Icon size={14} aria-hidden className={isPassing ? "save-state-busy" : undefined} />
      {/* The states of each keystroke are outside of the status, because they would be announced. */}
      {isPassing && <span>{text}</span>}
      <span role="status" hidden={isPassing} title={isPassing ? undefined : text}>
        {isPassing ? "" : text}
      </span>
      {status === "CONFLICT" && onCompare !== undefined && (
        <Button size="compact-xs" variant="default" onClick={onCompare}>
          Compare
        </Button>
      )}
    </span>
  );
}
