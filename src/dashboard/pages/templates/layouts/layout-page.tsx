/** The editor of a layout: its source, and a sample mail in it. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Layout } from "../../../../modules/layouts.ts";
import { api } from "../../../api.ts";
import { useMay } from "../../../state.ts";
import { ConflictDialog } from "../../../ui/editors/conflict-dialog.tsx";
import { Notices } from "../../../ui/editors/notices.tsx";
import { SaveState } from "../../../ui/editors/save-state.tsx";
import { TitleField } from "../../../ui/editors/title-field.tsx";
import { useAutosave } from "../../../ui/editors/use-autosave.ts";
import { useComparison } from "../../../ui/editors/use-comparison.ts";
import { Loaded } from "../../../ui/loaded.tsx";
import { LinesView } from "../../../ui/message/lines-view.tsx";
import { plainLines } from "../../../ui/message/message-lines.ts";
import { BackLabel, Page } from "../../../ui/page.tsx";
import { DeleteButton } from "../../../ui/delete-button.tsx";
import { useDeletion } from "../../../ui/deletion.ts";
import { LayoutSourceEditor } from "./layout-editor.tsx";
import { layoutKey, layoutPath, layoutRequests, type LayoutSource } from "./layout-source.ts";

const route = getRouteApi("/user/p/$project/templates/layouts/$layout");

const LAYOUT_LABELS = { name: "Name", body: "Body" } as const;

export function LayoutPage() {
  const { project, layout: id } = route.useParams();
  const mayEdit = useMay("EDITOR");
  const query = useQuery({
    queryKey: layoutKey(project, id),
    queryFn: ({ signal }) => api.get<Layout>(layoutPath(id), { signal }),
  });
  const { data } = query;
  if (data !== undefined && mayEdit) {
    return <LayoutEditor key={id} layout={data} project={project} />;
  }
  return (
    <Page title={data?.name ?? "Layout"} back={<BackToLayouts project={project} />}>
      <Loaded query={query}>
        {({ body }) => (
          <div className="layout-source">
            <LinesView lines={plainLines(body)} label="Source of the layout" isWrapped />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function BackToLayouts({ project }: { project: string }) {
  return (
    <Link to="/p/$project/templates/layouts" params={{ project }} className="page-back">
      <BackLabel>Layouts</BackLabel>
    </Link>
  );
}

function LayoutEditor({ layout, project }: { layout: Layout; project: string }) {
  const { id, name, body, revision } = layout;
  const client = useQueryClient();
  const requests = useMemo(() => layoutRequests(client, project, id), [client, project, id]);
  const editor = useAutosave<LayoutSource>({
    key: `layouts:${id}`,
    value: { name, body },
    revision,
    ...requests,
  });
  const { isComparing, compare, stopComparing } = useComparison(editor);
  return (
    <Page
      title={editor.value.name === "" ? "Layout" : editor.value.name}
      titleField={
        <TitleField
          noun="layout"
          value={editor.value.name}
          onChange={(name) => editor.change({ name })}
        />
      }
      isFixed
      back={<BackToLayouts project={project} />}
      actions={
        <>
          <SaveState editor={editor} labels={LAYOUT_LABELS} onCompare={compare} />
          <DeleteLayout id={id} project={project} />
        </>
      }
    >
      <Notices editor={editor} labels={LAYOUT_LABELS} />
      <LayoutSourceEditor editor={editor} project={project} />
      <ConflictDialog
        conflict={isComparing ? editor.conflict : null}
        mine={editor.value}
        noun="layout"
        labels={LAYOUT_LABELS}
        onResolve={editor.resolve}
        onClose={stopComparing}
      />
    </Page>
  );
}

function DeleteLayout({ id, project }: { id: string; project: string }) {
  const navigate = route.useNavigate();
  const remove = useDeletion({
    path: layoutPath(id),
    queryKey: layoutKey(project, id),
    listKey: ["layouts"],
    leave: () => navigate({ to: "/p/$project/templates/layouts", params: { project } }),
  });
  return (
    <DeleteButton noun="layout" onDelete={remove}>
      A layout that templates use cannot be deleted: choose another one for them first.
    </DeleteButton>
  );
}
