import { useEffect, useState } from "react";
import type { AutosaveState } from "./autosave.ts";

/** Whether the dialog with both versions of a conflict is open. A new conflict opens it. */
export function useComparison(editor: Pick<AutosaveState<unknown>, "conflict">) {
  const [isComparing, setIsComparing] = useState(false);
  const isInConflict = editor.conflict !== null;
  useEffect(() => setIsComparing(isInConflict), [isInConflict]);
  return {
    isComparing,
    compare: () => setIsComparing(true),
    stopComparing: () => setIsComparing(false),
  };
}
