/** The sign-up forms of the project with their figures, newest first. */

import { Button } from "@mantine/core";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { ClipboardPen, Plus } from "lucide-react";
import type { Form } from "../../../modules/forms/model.ts";
import { useShortcuts } from "../../shortcuts.ts";
import { useAppState, useMay } from "../../state.ts";
import { Code } from "../../ui/code.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ExportButton, ExportProgress, useExport } from "../../ui/export-button.tsx";
import { FilterBar } from "../../ui/filter-bar.tsx";
import { Page } from "../../ui/page.tsx";
import { useCreateDialog } from "../../ui/use-create-dialog.ts";
import { useList } from "../../ui/use-list.ts";
import { FORM_COLUMNS, FORM_CSV, formLines } from "./columns.tsx";
import { CreateForm } from "./create-form.tsx";
import { formSamples } from "./samples.ts";
import { formsQuery, readFormsSearch } from "./search.ts";

const route = getRouteApi("/user/p/$project/forms");
const number = new Intl.NumberFormat();

export function FormsPage() {
  const search = route.useSearch();
  const { project } = route.useParams();
  const navigate = useNavigate();
  const { url } = useAppState();
  const mayEdit = useMay("EDITOR");
  const [isOpen, dialog] = useCreateDialog(mayEdit);
  useShortcuts({ c: dialog.open }, mayEdit);
  const query = formsQuery(search);
  const list = useList<Form>("forms", "/forms", query);
  const run = useExport({ path: "/forms", query, columns: FORM_CSV, noun: "forms" });
  const isFiltered = search.q !== undefined;
  const isEmpty = list.rows.length === 0 && !list.isLoading && list.error === null && !isFiltered;
  const change = (next: Readonly<Record<string, unknown>>) =>
    void navigate({ to: "/p/$project/forms", params: { project }, search: readFormsSearch(next) });
  const open = (id: string) =>
    void navigate({ to: "/p/$project/forms/$form", params: { project, form: id } });
  const create = mayEdit && (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={dialog.open}>
      Create a form
    </Button>
  );
  return (
    <Page
      title="Forms"
      isFixed
      actions={
        !isEmpty && (
          <>
            <ExportButton run={run} isDisabled={list.rows.length === 0} />
            {create}
          </>
        )
      }
    >
      {!isEmpty && (
        <FilterBar label="Search: a name" fields={[]} filters={search} onChange={change}>
          {list.total !== null && (
            <span className="figures">
              {number.format(list.total)} {list.total === 1 ? "form" : "forms"}
            </span>
          )}
        </FilterBar>
      )}
      <ExportProgress run={run} />
      <DataTable
        label="Forms"
        list={list}
        columns={FORM_COLUMNS}
        rowKey={({ id }) => id}
        href={({ id }) => `/app/p/${project}/forms/${id}`}
        onOpen={({ id }) => open(id)}
        phone={formLines}
        isFiltered={isFiltered}
        onClearFilters={() => change({})}
        empty={
          <Empty
            icon={ClipboardPen}
            title="No forms yet"
            text="A sign-up form lets people subscribe: on a page of this server, or in the HTML of your site. They confirm by a mail, so that strangers cannot subscribe them."
            action={create}
          >
            <Code label="Creating a form" samples={formSamples(url)} />
          </Empty>
        }
      />
      <CreateForm isOpen={isOpen} onClose={dialog.close} onDone={open} />
    </Page>
  );
}
