/**
 * The editor of a template: its fields and its body at the left, the mail as a contact gets it at the
 * right. Everything saves itself.
 */

import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import type { Template } from "../../../../modules/templates.ts";
import { ConflictDialog } from "../../../ui/editors/conflict-dialog.tsx";
import { Notices } from "../../../ui/editors/notices.tsx";
import { SaveState } from "../../../ui/editors/save-state.tsx";
import { TitleField } from "../../../ui/editors/title-field.tsx";
import { useAutosave } from "../../../ui/editors/use-autosave.ts";
import { useComparison } from "../../../ui/editors/use-comparison.ts";
import { Page, PageTabs, TabLink } from "../../../ui/page.tsx";
import { BackToTemplates } from "../back-link.tsx";
import { currentTab, EDITOR_TABS, readTemplateSearch, type TemplateSearch } from "../search.ts";
import { UsesTab } from "../uses-tab.tsx";
import { VariablesTab } from "../variables-tab.tsx";
import { TemplateChecksTab } from "./checks-tab.tsx";
import { EditTab } from "./edit-tab.tsx";
import { SettingsTab } from "./settings-tab.tsx";
import { TemplateMenu } from "./template-menu.tsx";
import {
  TEMPLATE_GROUPS,
  TEMPLATE_LABELS,
  templateSource,
  templateRequests,
} from "./template-source.ts";
import { TemplateTest } from "./test-button.tsx";
import { VersionsTab } from "./versions-tab.tsx";

const route = getRouteApi("/user/p/$project/templates/$template");

export function TemplateEditor({ template, project }: { template: Template; project: string }) {
  const { id, revision } = template;
  const client = useQueryClient();
  const requests = useMemo(() => templateRequests(client, project, id), [client, project, id]);
  const editor = useAutosave({
    key: `templates:${id}`,
    value: templateSource(template),
    revision,
    groups: TEMPLATE_GROUPS,
    ...requests,
  });
  const { value, change } = editor;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const tab = currentTab(EDITOR_TABS, search);
  const show = useCallback(
    (next: TemplateSearch) =>
      void navigate({ search: readTemplateSearch({ ...search, ...next }), replace: true }),
    [navigate, search],
  );
  const { isComparing, compare, stopComparing } = useComparison(editor);
  return (
    <Page
      title={value.name === "" ? "Template" : value.name}
      titleField={
        <TitleField noun="template" value={value.name} onChange={(name) => change({ name })} />
      }
      isFixed={tab === "edit"}
      back={<BackToTemplates project={project} />}
      actions={
        <>
          <SaveState editor={editor} labels={TEMPLATE_LABELS} onCompare={compare} />
          <TemplateTest id={id} saveNow={editor.saveNow} contactId={search.as} />
          <TemplateMenu template={template} project={project} saveNow={editor.saveNow} />
        </>
      }
      tabs={
        <PageTabs label="Parts of the template">
          {EDITOR_TABS.map(({ key, label }) => (
            <TabLink key={key} tab={key} current={tab}>
              {label}
            </TabLink>
          ))}
        </PageTabs>
      }
    >
      <Notices editor={editor} labels={TEMPLATE_LABELS} />
      {tab === "edit" && (
        <EditTab editor={editor} project={project} search={search} onSearch={show} />
      )}
      {tab === "settings" && <SettingsTab editor={editor} project={project} />}
      {tab === "checks" && (
        <TemplateChecksTab source={value} project={project} contactId={search.as} />
      )}
      {tab === "variables" && <VariablesTab template={template} />}
      {tab === "versions" && (
        <VersionsTab
          template={template}
          project={project}
          editor={editor}
          chosen={search.version}
          onChoose={(version) => show({ version })}
        />
      )}
      {tab === "uses" && <UsesTab template={template} />}
      <ConflictDialog
        conflict={isComparing ? editor.conflict : null}
        mine={value}
        noun="template"
        labels={TEMPLATE_LABELS}
        onResolve={editor.resolve}
        onClose={stopComparing}
      />
    </Page>
  );
}
