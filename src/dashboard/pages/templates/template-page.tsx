/** One template: its preview for a contact, its variables, its source, and where it is used. */

import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Template } from "../../../modules/templates.ts";
import { api } from "../../api.ts";
import { ContactPreview } from "../../ui/contact-preview.tsx";
import { BackLabel, Page, PageTabs, TabLink } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Time } from "../../ui/time.tsx";
import { useDelayed } from "../../ui/use-delayed.ts";
import { KINDS } from "./columns.tsx";
import { readTemplateSearch, TEMPLATE_TABS, type TemplateSearch, templateTabOf } from "./search.ts";
import { TemplateSource } from "./source-tab.tsx";
import { UsesTab } from "./uses-tab.tsx";
import { VariablesTab } from "./variables-tab.tsx";

const route = getRouteApi("/user/p/$project/templates/$template");

export function TemplatePage() {
  const { project, template: id } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ["templates", project, id],
    queryFn: ({ signal }) => api.get<Template>(`/templates/${encodeURIComponent(id)}`, { signal }),
  });
  const isSlow = useDelayed(isPending);
  const tab = templateTabOf(search);
  const change = (next: TemplateSearch) =>
    void navigate({ search: readTemplateSearch({ ...search, ...next }), replace: true });
  return (
    <Page
      title={data?.name ?? "Template"}
      back={
        <Link to="/p/$project/templates" params={{ project }} className="page-back">
          <BackLabel>Templates</BackLabel>
        </Link>
      }
      description={data !== undefined && <Facts template={data} />}
      tabs={
        data !== undefined && (
          <PageTabs label="Parts of the template">
            {TEMPLATE_TABS.map(({ key, label }) => (
              <TabLink key={key} tab={key} current={tab}>
                {label}
              </TabLink>
            ))}
          </PageTabs>
        )
      }
    >
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {data === undefined && isSlow && error === null && <Skeleton height={480} aria-busy="true" />}
      {data !== undefined && tab === "preview" && (
        <ContactPreview
          key={id}
          path={`/templates/${encodeURIComponent(id)}/preview`}
          noun="template"
          version={data.updatedAt}
          contactId={search.as}
          onContact={(as) => change({ as })}
        />
      )}
      {data !== undefined && tab === "variables" && <VariablesTab template={data} />}
      {data !== undefined && tab === "source" && <TemplateSource template={data} />}
      {data !== undefined && tab === "uses" && <UsesTab template={data} />}
    </Page>
  );
}

function Facts({ template }: { template: Template }) {
  const { type, description, from, updatedAt } = template;
  return (
    <>
      {description !== null && <>{description} · </>}
      {KINDS[type]} mail from {from ?? "the sender of the project"}, changed <Time at={updatedAt} />
    </>
  );
}
