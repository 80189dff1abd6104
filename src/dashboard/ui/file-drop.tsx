/** A place where a file is dropped, or chosen with a button. */

import { Button } from "@mantine/core";
import { FileUp } from "lucide-react";
import { type DragEvent, type ReactNode, useId, useRef, useState } from "react";
import href from "./file-drop.css" with { type: "file" };
import { loadStyles } from "./style-sheet.ts";

loadStyles(href);

export function FileDrop(props: {
  /** Names the field for screen readers: "CSV file". */
  label: string;
  /** "Drop a CSV file here". */
  title: string;
  /** Types of files that the browser offers. */
  accept: string;
  /** The limits of the file. */
  hint: ReactNode;
  /** The words on the button. */
  button?: string;
  onFile: (file: File) => void;
}) {
  const { label, title, accept, hint, button = "Choose a file", onFile } = props;
  const [isOver, setIsOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const hintId = useId();

  function drop(event: DragEvent): void {
    event.preventDefault();
    setIsOver(false);
    const [dropped] = event.dataTransfer.files;
    if (dropped !== undefined) onFile(dropped);
  }

  return (
    <div
      className="file-drop"
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={drop}
    >
      <FileUp size={24} aria-hidden />
      <p>
        <strong>{title}</strong>
      </p>
      <Button onClick={() => input.current?.click()} aria-describedby={hintId}>
        {button}
      </Button>
      <input
        ref={input}
        type="file"
        accept={accept}
        className="visually-hidden"
        tabIndex={-1}
        aria-label={label}
        onChange={({ currentTarget }) => {
          const [chosen] = currentTarget.files ?? [];
          // The same file may be chosen once more after an error.
          currentTarget.value = "";
          if (chosen !== undefined) onFile(chosen);
        }}
      />
      <p id={hintId} className="muted small">
        {hint}
      </p>
    </div>
  );
}
