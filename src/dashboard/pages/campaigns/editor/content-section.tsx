/**
 * The section for the content: the campaign's own text or that of a template, and the mail that it
 * makes.
 */

import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { LayoutTemplate } from "lucide-react";
import { BodyEditor } from "../../templates/editor/body-editor.tsx";
import { ContentFields } from "../../templates/editor/content-fields.tsx";
import { EditorPanes } from "../../templates/editor/editor-panes.tsx";
import { PreviewPane } from "../../templates/editor/preview-pane.tsx";
import type { useDraftPreview } from "../../templates/editor/use-draft-preview.ts";
import type { CampaignSearch } from "../search.ts";
import type { CampaignEditing } from "./campaign-source.ts";
import { Section } from "./section.tsx";
import { type SectionState, writtenFaults } from "./sections.ts";
import { TemplateDialog } from "./template-dialog.tsx";

export function ContentSection(props: {
  project: string;
  editor: CampaignEditing;
  preview: ReturnType<typeof useDraftPreview>;
  search: CampaignSearch;
  onSearch: (next: CampaignSearch) => void;
  state: SectionState;
}) {
  const { project, editor, preview, search, onSearch, state } = props;
  const { value } = editor;
  const faults = writtenFaults(value, preview.data?.errors ?? []);
  const [isChoosing, dialog] = useDisclosure(false);
  return (
    <Section section="content" state={state}>
      <div className="draft-tools">
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<LayoutTemplate size={14} aria-hidden />}
          onClick={dialog.open}
        >
          Start from a template
        </Button>
      </div>
      <div className="draft-content">
        <EditorPanes
          // The visual editor shows the mail, and needs the width for the settings of its blocks.
          isSingle={value.format === "VISUAL"}
          source={
            <>
              <div className="editor-fields">
                <ContentFields editor={editor} project={project} faults={faults} />
              </div>
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
              sender={value.fromName ?? (value.from === "" ? null : value.from)}
              search={search}
              onSearch={onSearch}
            />
          }
        />
      </div>
      <TemplateDialog isOpen={isChoosing} onClose={dialog.close} editor={editor} />
    </Section>
  );
}
