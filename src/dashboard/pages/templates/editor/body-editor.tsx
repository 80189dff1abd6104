/** The body of a template, as code or in the visual editor. */

import { Button, SegmentedControl, Skeleton } from "@mantine/core";
import { Code2, LayoutTemplate } from "lucide-react";
import { useCallback, useMemo, useRef } from "react";
import { lazyPart } from "../../../lazy.tsx";
import { isSameValue } from "../../../ui/editors/merge.ts";
import type { VisualEditorProps } from "../../../ui/editors/visual/visual-editor.tsx";
import { LinesView } from "../../../ui/message/lines-view.tsx";
import { plainLines } from "../../../ui/message/message-lines.ts";
import { isRecord } from "../../../ui/is-record.ts";
import { showFailure, showUndo } from "../../../ui/undo.tsx";
import { blankLetter } from "./blank-letter.ts";
import { CodeBody } from "./code-body.tsx";
import { FaultList } from "./fault-list.tsx";
import { uploadImage } from "./images.ts";
import type { DraftFault } from "./use-draft-preview.ts";
import { useContactFields } from "./use-variables.ts";

const HEIGHT_PX = 320;

const LazyVisualEditor = lazyPart<VisualEditorProps>(
  async () => (await import("../../../ui/editors/visual/visual-editor.tsx")).default,
  <Skeleton height={HEIGHT_PX} aria-busy="true" />,
);

export type BodyMode = "visual" | "code";

/** The part of an object that the editor of its body needs. */
type BodyEditing = {
  value: {
    body: string;
    design: object | null;
    format: "CODE" | "VISUAL";
    layoutId: string | null;
  };
  change: (next: {
    body?: string;
    design?: Record<string, unknown> | null;
    format?: "CODE" | "VISUAL";
  }) => void;
};

export function BodyEditor(props: {
  editor: BodyEditing;
  project: string;
  faults: readonly DraftFault[];
  /** For a body of the visual editor: "code" shows its source. */
  mode: BodyMode;
  onMode: (mode: BodyMode) => void;
}) {
  const { editor, project, faults, mode, onMode } = props;
  const { change, value } = editor;
  const setBody = useCallback((body: string) => change({ body }), [change]);
  if (value.format === "CODE") {
    return (
      <CodeBody
        label="Body, HTML with Liquid"
        value={value.body}
        onChange={setBody}
        project={project}
        faults={faults}
        tools={value.body.trim() === "" && <VisualButton editor={editor} />}
      />
    );
  }
  return (
    <div className="editor-body">
      <div className="editor-tools editor-modes">
        <SegmentedControl
          aria-label="Mode of the editor"
          value={mode}
          onChange={(next) => onMode(next === "code" ? "code" : "visual")}
          data={[
            { value: "visual", label: "Visual" },
            { value: "code", label: "Code" },
          ]}
        />
      </div>
      {mode === "code" ? (
        <VisualSource editor={editor} />
      ) : (
        <VisualBody editor={editor} project={project} />
      )}
      <FaultList faults={faults} onGo={() => onMode("code")} />
    </div>
  );
}

/** An empty body may be written in the visual editor. */
function VisualButton({ editor }: { editor: BodyEditing }) {
  const { change } = editor;
  async function start(): Promise<void> {
    try {
      change(await blankLetter());
    } catch (error) {
      showFailure("The visual editor was not opened", error);
    }
  }
  return (
    <Button
      size="compact-sm"
      variant="subtle"
      color="gray"
      leftSection={<LayoutTemplate size={14} aria-hidden />}
      onClick={() => void start()}
    >
      Write in the visual editor
    </Button>
  );
}

function VisualBody({ editor, project }: { editor: BodyEditing; project: string }) {
  const { value, change } = editor;
  const fields = useContactFields(project);
  const upload = useCallback((file: File) => uploadImage(project, file), [project]);
  const foreign = useForeignChanges(value.design);
  const onChange: VisualEditorProps["onChange"] = (next) => {
    foreign.expect(next.design);
    change(next);
  };
  return (
    <div className="editor-visual">
      <LazyVisualEditor
        key={foreign.count}
        label="Body"
        design={value.design}
        body={value.body}
        onChange={onChange}
        contactFields={fields}
        uploadImage={upload}
        hasLayout={value.layoutId !== null}
      />
    </div>
  );
}

/**
 * Counts the designs that did not come from the editor itself, such as a restored version: the
 * editor opens only its first one.
 */
function useForeignChanges(design: object | null) {
  const known = useRef({ count: 0, design });
  if (!isSameValue(known.current.design, design)) {
    known.current = { count: known.current.count + 1, design };
  }
  return {
    count: known.current.count,
    /** Remembers a design that the editor is about to report. */
    expect(next: object): void {
      known.current = { ...known.current, design: next };
    },
  };
}

/** Shows the source that the visual editor wrote, and offers to go on in code. */
function VisualSource({ editor }: { editor: BodyEditing }) {
  const { value, change } = editor;
  const { body, design } = value;
  const lines = useMemo(() => plainLines(body), [body]);
  function leaveVisual(): void {
    change({ format: "CODE", design: null });
    showUndo({
      text: "It is edited as code now.",
      onUndo: () => change({ format: "VISUAL", design: isRecord(design) ? design : null, body }),
    });
  }
  return (
    <>
      <div className="editor-written">
        <LinesView lines={lines} label="Source of the body" isWrapped />
      </div>
      <div className="editor-way-out">
        <span className="muted small">
          The visual editor writes this code. Once it is edited as code, the visual editor does not
          open it again.
        </span>
        <Button
          size="xs"
          variant="default"
          leftSection={<Code2 size={14} aria-hidden />}
          onClick={leaveVisual}
        >
          Edit as code
        </Button>
      </div>
    </>
  );
}
