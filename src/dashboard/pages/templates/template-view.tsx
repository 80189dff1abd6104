/** A template for people who may not change it: its preview, variables, source and uses. */

import "./styles.ts";
import { getRouteApi } from "@tanstack/react-router";
import type { Template } from "../../../modules/templates.ts";
import { ContactPreview } from "../../ui/contact-preview.tsx";
import { Page, PageTabs, TabLink } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { BackToTemplates } from "./back-link.tsx";
import { KINDS } from "./columns.tsx";
import { templatePath } from "./editor/template-source.ts";
import { currentTab, readTemplateSearch, type TemplateSearch, VIEWER_TABS } from "./search.ts";
import { TemplateSourceTab } from "./source-tab.tsx";
import { UsesTab } from "./uses-tab.tsx";
import { VariablesTab } from "./variables-tab.tsx";

const route = getRouteApi("/user/p/$project/templates/$template");

export function TemplateView({ template }: { template: Template }) {
  const { project } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const tab = currentTab(VIEWER_TABS, search);
  const change = (next: TemplateSearch) =>
    void navigate({ search: readTemplateSearch({ ...search, ...next }), replace: true });
  return (
    <Page
      title={template.name}
      back={<BackToTemplates project={project} />}
      description={<Facts template={template} />}
      tabs={
        <PageTabs label="Parts of the template">
          {VIEWER_TABS.map(({ key, label }) => (
            <TabLink key={key} tab={key} current={tab}>
              {label}
            </TabLink>
          ))}
        </PageTabs>
      }
    >
      {tab === "preview" && (
        <ContactPreview
          key={template.id}
          path={`${templatePath(template.id)}/preview`}
          noun="template"
          version={template.updatedAt}
          contactId={search.as}
          onContact={(as) => change({ as })}
        />
      )}
      {tab === "variables" && <VariablesTab template={template} />}
      {tab === "source" && <TemplateSourceTab template={template} />}
      {tab === "uses" && <UsesTab template={template} />}
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
