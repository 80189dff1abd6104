/** The source of a layout and, beside it, a sample mail in it. */

import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import { ApiError, api } from "../../../api.ts";
import { placeOf } from "../../../ui/editors/fault-place.ts";
import type { Editing } from "../../../ui/editors/use-autosave.ts";
import { Loaded } from "../../../ui/loaded.tsx";
import { Uses } from "../../../ui/uses.tsx";
import { CodeBody } from "../editor/code-body.tsx";
import { EditorPanes } from "../editor/editor-panes.tsx";
import { PreviewPane } from "../editor/preview-pane.tsx";
import { useDraftPreview } from "../editor/use-draft-preview.ts";
import { readTemplateSearch } from "../search.ts";
import { layoutPath, type LayoutSource, withSampleContent } from "./layout-source.ts";

const route = getRouteApi("/user/p/$project/templates/layouts/$layout");

const SAMPLE = {
  subject: "Your order 1001",
  preheader: "Thank you. This is what you ordered.",
  layoutId: null,
  type: "TRANSACTIONAL",
} as const;

export function LayoutSourceEditor(props: { editor: Editing<LayoutSource>; project: string }) {
  const { editor, project } = props;
  const { layout: id } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { body } = editor.value;
  const draft = useMemo(() => ({ ...SAMPLE, body: withSampleContent(body) }), [body]);
  const preview = useDraftPreview(project, draft, search.as);
  return (
    <EditorPanes
      source={
        <CodeBody
          label="Body of the layout, HTML with Liquid"
          value={body}
          onChange={(next) => editor.change({ body: next })}
          project={project}
          faults={[...(preview.data?.errors ?? []), ...ownFaults(editor.error)]}
        >
          <LayoutUses id={id} project={project} />
        </CodeBody>
      }
      preview={
        <PreviewPane
          preview={preview}
          sender={null}
          search={search}
          onSearch={(next) =>
            void navigate({ search: readTemplateSearch({ ...search, ...next }), replace: true })
          }
        />
      }
    />
  );
}

/**
 * Finds the faults that only a layout can have: its place for the content is missing, or there
 * twice.
 */
function ownFaults(error: unknown) {
  const found = error instanceof ApiError ? error.errors : [];
  return found.flatMap(({ field, message }) => {
    if (field !== "body" || message.startsWith("has a syntax error")) return [];
    const place = placeOf(message) ?? { line: 1, column: 1, message };
    return [{ field, ...place }];
  });
}

function LayoutUses({ id, project }: { id: string; project: string }) {
  const usage = useQuery({
    queryKey: ["layouts", project, id, "usage"],
    queryFn: ({ signal }) =>
      api.get<{ users: { kind: "template"; id: string; name: string }[] }>(
        `${layoutPath(id)}/usage`,
        { signal },
      ),
  });
  return (
    <details className="layout-uses">
      <summary>Where it is used</summary>
      <Loaded query={usage} height={40}>
        {({ users }) =>
          users.length === 0 ? (
            <p className="muted small">No template has this layout yet.</p>
          ) : (
            <Uses users={users} />
          )
        }
      </Loaded>
    </details>
  );
}
