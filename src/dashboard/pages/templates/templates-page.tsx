/** The templates of the project, newest first. */

import { Button } from "@mantine/core";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Images, LayoutTemplate, PanelsTopLeft, Plus } from "lucide-react";
import type { Template } from "../../../modules/templates.ts";
import { useShortcuts } from "../../shortcuts.ts";
import { useAppState, useMay } from "../../state.ts";
import { Code } from "../../ui/code.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ExportButton, ExportProgress, useExport } from "../../ui/export-button.tsx";
import { FilterBar } from "../../ui/filter-bar.tsx";
import { Page } from "../../ui/page.tsx";
import { useList } from "../../ui/use-list.ts";
import { SavedViews } from "../../ui/views/saved-views.tsx";
import { TEMPLATE_CSV, TEMPLATE_COLUMNS, templateLines } from "./columns.tsx";
import { templateSamples } from "./samples.ts";
import { readTemplatesSearch, templatesQuery } from "./search.ts";

const route = getRouteApi("/user/p/$project/templates");
const number = new Intl.NumberFormat();

export function TemplatesPage() {
  const search = route.useSearch();
  const { project } = route.useParams();
  const navigate = useNavigate();
  const { url } = useAppState();
  const query = templatesQuery(search);
  const list = useList<Template>("templates", "/templates", query);
  const run = useExport({ path: "/templates", query, columns: TEMPLATE_CSV, noun: "templates" });
  const isFiltered = search.q !== undefined;
  const isEmpty = list.rows.length === 0 && !list.isLoading && list.error === null && !isFiltered;
  const change = (next: Readonly<Record<string, unknown>>) =>
    void navigate({
      to: "/p/$project/templates",
      params: { project },
      search: readTemplatesSearch(next),
    });
  const open = ({ id }: Template) =>
    void navigate({ to: "/p/$project/templates/$template", params: { project, template: id } });
  const mayEdit = useMay("EDITOR");
  const create = () => void navigate({ to: "/p/$project/templates/new", params: { project } });
  useShortcuts({ c: create }, mayEdit);
  return (
    <Page
      title="Templates"
      isFixed
      actions={
        <>
          <ImagesLink project={project} />
          <LayoutsLink project={project} />
          {!isEmpty && <ExportButton run={run} isDisabled={list.rows.length === 0} />}
          {!isEmpty && mayEdit && <CreateTemplate project={project} />}
        </>
      }
    >
      {!isEmpty && (
        <FilterBar label="Search: a name" fields={[]} filters={search} onChange={change}>
          {list.total !== null && (
            <span className="figures">
              {number.format(list.total)} {list.total === 1 ? "template" : "templates"}
            </span>
          )}
          <SavedViews page="templates" search={search} onChoose={change} />
        </FilterBar>
      )}
      <ExportProgress run={run} />
      <DataTable
        label="Templates"
        list={list}
        columns={TEMPLATE_COLUMNS}
        rowKey={({ id }) => id}
        href={({ id }) => `/app/p/${project}/templates/${id}`}
        onOpen={open}
        phone={templateLines}
        isFiltered={isFiltered}
        onClearFilters={() => change({})}
        empty={
          <Empty
            icon={LayoutTemplate}
            title="No templates yet"
            text="A template is the content of a kind of email, such as a receipt. Your programs and workflows send it with the data of each contact."
            action={mayEdit && <CreateTemplate project={project} />}
          >
            <Code label="Creating a template" samples={templateSamples(url)} />
          </Empty>
        }
      />
    </Page>
  );
}

function CreateTemplate({ project }: { project: string }) {
  return (
    <Button
      component={Link}
      to={`/p/${project}/templates/new`}
      leftSection={<Plus size={16} aria-hidden />}
    >
      Create a template
    </Button>
  );
}

function ImagesLink({ project }: { project: string }) {
  return (
    <Button
      component={Link}
      to={`/p/${project}/templates/images`}
      variant="default"
      leftSection={<Images size={15} aria-hidden />}
    >
      Images
    </Button>
  );
}

function LayoutsLink({ project }: { project: string }) {
  return (
    <Button
      component={Link}
      to={`/p/${project}/templates/layouts`}
      variant="default"
      leftSection={<PanelsTopLeft size={15} aria-hidden />}
    >
      Layouts
    </Button>
  );
}
