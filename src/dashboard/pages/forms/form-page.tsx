/** One sign-up form: its editor with a preview, where it is shared, and its report. */

import "./styles.ts";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { useMay } from "../../state.ts";
import { DeleteButton } from "../../ui/delete-button.tsx";
import { useDeletion } from "../../ui/deletion.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { BackLabel, Page, PageTabs, TabLink } from "../../ui/page.tsx";
import { FormStatus } from "./columns.tsx";
import { FormEditTab } from "./edit-tab.tsx";
import { FormReportTab } from "./report-tab.tsx";
import { ShareTab } from "./share-tab.tsx";
import { formKey, formPath, useSignUpForm } from "./use-form.ts";

const route = getRouteApi("/user/p/$project/forms/$form");

const TABS = { edit: "Form", share: "Share", report: "Report" } as const;
type Tab = keyof typeof TABS;

const isTab = (text: string): text is Tab => text in TABS;

export function FormPage() {
  const { project, form: id } = route.useParams();
  const { tab: given = "edit" } = route.useSearch();
  const tab = isTab(given) ? given : "edit";
  const query = useSignUpForm(project, id);
  const { data } = query;
  const [reloads, setReloads] = useState(0);
  return (
    <Page
      title={data?.name ?? "Form"}
      badge={data && <FormStatus {...data} />}
      back={
        <Link to="/p/$project/forms" params={{ project }} className="page-back">
          <BackLabel>Forms</BackLabel>
        </Link>
      }
      actions={data && <DeleteForm id={id} project={project} />}
      tabs={
        data && (
          <PageTabs label="Parts of the form">
            {Object.entries(TABS).map(([key, label]) => (
              <TabLink key={key} tab={key} current={tab}>
                {label}
              </TabLink>
            ))}
          </PageTabs>
        )
      }
    >
      <Loaded query={query}>
        {(form) => (
          <>
            {tab === "edit" && (
              <FormEditTab
                key={`${id} ${reloads}`}
                form={form}
                project={project}
                onReload={() => void query.refetch().then(() => setReloads(reloads + 1))}
              />
            )}
            {tab === "share" && <ShareTab form={form} project={project} />}
            {tab === "report" && <FormReportTab form={form} project={project} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function DeleteForm({ id, project }: { id: string; project: string }) {
  const navigate = route.useNavigate();
  const mayEdit = useMay("EDITOR");
  const remove = useDeletion({
    path: formPath(id),
    queryKey: formKey(project, id),
    listKey: ["forms"],
    leave: () => navigate({ to: "/p/$project/forms", params: { project } }),
  });
  if (!mayEdit) return null;
  return (
    <DeleteButton noun="form" onDelete={remove}>
      Its page, its HTML in other sites and the links of its mails stop working: people who have not
      confirmed yet are not subscribed. Contacts and their consents stay.
    </DeleteButton>
  );
}
