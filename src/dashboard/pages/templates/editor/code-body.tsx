/** A body as code, with buttons that insert variables and images, and with its faults. */

import { type ReactNode, useCallback, useId, useRef } from "react";
import type { CodeControl, CodeFault } from "../../../ui/editors/code/code-editor.tsx";
import { LazyCodeEditor } from "../../../ui/editors/code/lazy-code-editor.tsx";
import { CodeTools } from "./code-tools.tsx";
import { FaultList } from "./fault-list.tsx";
import { useVariables } from "./use-variables.ts";
import type { DraftFault } from "./use-draft-preview.ts";

export function CodeBody(props: {
  label: string;
  value: string;
  onChange: (body: string) => void;
  project: string;
  faults: readonly DraftFault[];
  /** Further buttons above the code. */
  tools?: ReactNode;
  /** Shown below the code. */
  children?: ReactNode;
}) {
  const { label, value, onChange, project, faults, tools, children } = props;
  const control = useRef<CodeControl>(null);
  const variables = useVariables(project);
  const bodyFaults = useBodyFaults(faults);
  const hint = useId();
  const onReady = useCallback((ready: CodeControl) => {
    control.current = ready;
  }, []);
  return (
    <div className="editor-body">
      <CodeTools project={project} variables={variables} control={control}>
        {tools}
      </CodeTools>
      <div className="editor-code">
        <LazyCodeEditor
          value={value}
          onChange={onChange}
          label={label}
          describedBy={hint}
          faults={bodyFaults}
          variables={variables}
          onReady={onReady}
        />
      </div>
      <FaultList faults={faults} onGo={({ line, column }) => control.current?.goTo(line, column)} />
      <p className="editor-keys muted small" id={hint}>
        Tab indents. Press Esc, then Tab, to leave the editor by keyboard.
      </p>
      {children}
    </div>
  );
}

/** The same list as long as the faults are the same, because the editor marks a new list anew. */
function useBodyFaults(faults: readonly DraftFault[]): readonly CodeFault[] {
  const found = faults.flatMap(({ field, line, column, message }) =>
    field === "body" ? [{ line: line ?? 1, column: column ?? 1, message }] : [],
  );
  const latest = useRef<readonly CodeFault[]>(found);
  if (JSON.stringify(found) !== JSON.stringify(latest.current)) latest.current = found;
  return latest.current;
}
