/** Tells the user what else has changed the object: restored changes, and those of other people. */

import "./styles.ts";
import { Button, CloseButton } from "@mantine/core";
import { useState } from "react";
import type { AutosaveState } from "./autosave.ts";

const time = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export function Notices(props: {
  editor: Pick<AutosaveState<unknown>, "restoredFromMs" | "merged"> & { discard: () => void };
  /** The words for the fields; a field without one is not named. */
  labels: Readonly<Record<string, string>>;
}) {
  const { editor, labels } = props;
  const { restoredFromMs, merged } = editor;
  const names = merged.flatMap((name) => labels[name] ?? []);
  return (
    <>
      {restoredFromMs !== null && (
        <Notice key={restoredFromMs}>
          <span>Changes of {time.format(restoredFromMs)} that were not saved are here again.</span>
          <Button size="compact-xs" variant="default" onClick={editor.discard}>
            Discard them
          </Button>
        </Notice>
      )}
      {names.length > 0 && (
        <Notice key={names.join()}>
          <span>Somebody else has changed: {names.join(", ")}. Their changes are here now.</span>
        </Notice>
      )}
    </>
  );
}

function Notice({ children }: { children: React.ReactNode }) {
  const [isOpen, setIsOpen] = useState(true);
  if (!isOpen) return null;
  return (
    <div className="editor-notice" role="status">
      {children}
      <CloseButton
        size="sm"
        aria-label="Close"
        className="editor-notice-close"
        onClick={() => setIsOpen(false)}
      />
    </div>
  );
}
