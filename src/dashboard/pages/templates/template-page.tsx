/** One template: an editor for those who may change it, and a view of it for others. */

import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { Template } from "../../../modules/templates.ts";
import { api } from "../../api.ts";
import { useMay } from "../../state.ts";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useDelayed } from "../../ui/use-delayed.ts";
import { BackToTemplates } from "./back-link.tsx";
import { TemplateEditor } from "./editor/template-editor.tsx";
import { templateKey, templatePath } from "./editor/template-source.ts";
import { TemplateView } from "./template-view.tsx";

const route = getRouteApi("/user/p/$project/templates/$template");

export function TemplatePage() {
  const { project, template: id } = route.useParams();
  const mayEdit = useMay("EDITOR");
  const { data, error, isPending, refetch } = useQuery({
    queryKey: templateKey(project, id),
    queryFn: ({ signal }) => api.get<Template>(templatePath(id), { signal }),
  });
  const isSlow = useDelayed(isPending);
  if (data !== undefined) {
    // Each template has an editor of its own, with its own state.
    return mayEdit ? (
      <TemplateEditor key={id} template={data} project={project} />
    ) : (
      <TemplateView template={data} />
    );
  }
  return (
    <Page title="Template" back={<BackToTemplates project={project} />}>
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {isSlow && error === null && <Skeleton height={480} aria-busy="true" />}
    </Page>
  );
}
