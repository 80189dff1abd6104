/** The content of a template and, beside it, the mail that it makes. */

import type { TemplateSearch } from "../search.ts";
import { BodyEditor } from "./body-editor.tsx";
import { EditorPanes } from "./editor-panes.tsx";
import { PreviewPane } from "./preview-pane.tsx";
import { SourceFields } from "./source-fields.tsx";
import type { TemplateEditing } from "./template-editing.ts";
import { useDraftPreview } from "./use-draft-preview.ts";

export function EditTab(props: {
  editor: TemplateEditing;
  project: string;
  search: TemplateSearch;
  onSearch: (next: TemplateSearch) => void;
}) {
  const { editor, project, search, onSearch } = props;
  const { value } = editor;
  const preview = useDraftPreview(project, value, search.as);
  const faults = preview.data?.errors ?? [];
  return (
    <EditorPanes
      // The visual editor shows the mail, and needs the width for the settings of its blocks.
      isSingle={value.format === "VISUAL"}
      source={
        <>
          <SourceFields editor={editor} project={project} faults={faults} />
          <BodyEditor
            editor={editor}
            project={project}
            faults={faults}
            mode={search.mode === "code" ? "code" : "visual"}
            onMode={(mode) => onSearch({ mode: mode === "code" ? mode : "" })}
          />
        </>
      }
      preview={
        <PreviewPane
          preview={preview}
          sender={value.fromName ?? value.from}
          search={search}
          onSearch={onSearch}
        />
      }
    />
  );
}
