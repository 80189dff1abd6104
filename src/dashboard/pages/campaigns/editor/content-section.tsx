/** What the campaign says: its own text or that of a template, and beside it the mail that it makes. */

import { Button, Select, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { LayoutTemplate } from "lucide-react";
import { BodyEditor } from "../../templates/editor/body-editor.tsx";
import { EditorPanes } from "../../templates/editor/editor-panes.tsx";
import { PreviewPane } from "../../templates/editor/preview-pane.tsx";
import type { DraftFault, useDraftPreview } from "../../templates/editor/use-draft-preview.ts";
import { useLayouts } from "../../templates/layouts/use-layouts.ts";
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
              <Lines editor={editor} project={project} faults={faults} />
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

/** Subject, preheader and layout, each on one line as in a mail program. */
function Lines(props: { editor: CampaignEditing; project: string; faults: readonly DraftFault[] }) {
  const { editor, project, faults } = props;
  const { value, change } = editor;
  const layouts = useLayouts(project).data ?? [];
  const faultOf = (field: string) => faults.find((fault) => fault.field === field)?.message;
  return (
    <div className="editor-fields">
      <TextInput
        label="Subject"
        className="editor-field"
        variant="unstyled"
        maxLength={10_000}
        value={value.subject}
        error={faultOf("subject")}
        onChange={({ currentTarget }) => change({ subject: currentTarget.value })}
      />
      <TextInput
        label="Preheader"
        className="editor-field"
        variant="unstyled"
        placeholder="Shown beside the subject in the list of mails"
        maxLength={2_000}
        value={value.preheader ?? ""}
        error={faultOf("preheader")}
        onChange={({ currentTarget }) =>
          change({ preheader: currentTarget.value === "" ? null : currentTarget.value })
        }
      />
      {(layouts.length > 0 || value.layoutId !== null) && (
        <Select
          label="Layout"
          className="editor-field"
          variant="unstyled"
          placeholder="None"
          clearable
          data={layouts.map(({ id, name }) => ({ value: id, label: name }))}
          value={value.layoutId}
          onChange={(layoutId) => change({ layoutId })}
        />
      )}
    </div>
  );
}
