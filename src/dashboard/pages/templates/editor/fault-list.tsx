/** The faults of a template, as links to their lines. */

import { CircleAlert } from "lucide-react";
import { TEMPLATE_LABELS } from "./template-source.ts";
import type { DraftFault } from "./use-draft-preview.ts";

export function FaultList(props: {
  faults: readonly DraftFault[];
  onGo: (fault: { line: number; column: number }) => void;
}) {
  const { faults, onGo } = props;
  return (
    <ul className="editor-faults" aria-label="Faults" aria-live="polite">
      {faults.map(({ field, line, column, message }) => (
        <li key={`${field} ${line} ${column}`}>
          <CircleAlert size={14} aria-hidden />
          {field === "body" ? (
            <button
              type="button"
              className="editor-fault-place"
              onClick={() => onGo({ line: line ?? 1, column: column ?? 1 })}
            >
              Line {line ?? 1}
            </button>
          ) : (
            <strong>{TEMPLATE_LABELS[field] ?? field}</strong>
          )}
          <span>{message}</span>
        </li>
      ))}
    </ul>
  );
}
