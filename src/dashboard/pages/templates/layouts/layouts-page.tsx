/** The layouts of the project: headers and footers that templates share. */

import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { PanelsTopLeft, Plus } from "lucide-react";
import type { Layout } from "../../../../modules/layouts.ts";
import { api } from "../../../api.ts";
import { useShortcuts } from "../../../shortcuts.ts";
import { useAppState, useMay } from "../../../state.ts";
import { Code } from "../../../ui/code.tsx";
import { type Column, DataTable } from "../../../ui/data-table.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { NameForm } from "../../../ui/name-form.tsx";
import { Page } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { useCreateDialog } from "../../../ui/use-create-dialog.ts";
import { useList } from "../../../ui/use-list.ts";
import { BackToTemplates } from "../back-link.tsx";
import { FIRST_BODY } from "./first-body.ts";
import { layoutSamples } from "./samples.ts";

const route = getRouteApi("/user/p/$project/templates/layouts");

const COLUMNS: readonly Column<Layout>[] = [
  { key: "name", title: "Layout", render: ({ name }) => <bdi title={name}>{name}</bdi> },
  {
    key: "updated",
    title: "Changed",
    width: "132px",
    isFigure: true,
    render: ({ updatedAt }) => <Time at={updatedAt} isPlain />,
  },
];

export function LayoutsPage() {
  const { project } = route.useParams();
  const navigate = useNavigate();
  const client = useQueryClient();
  const list = useList<Layout>("layouts", "/layouts");
  const { url } = useAppState();
  const mayEdit = useMay("EDITOR");
  const [isCreating, dialog] = useCreateDialog(mayEdit);
  useShortcuts({ c: dialog.open }, mayEdit);
  const open = (id: string) =>
    void navigate({
      to: "/p/$project/templates/layouts/$layout",
      params: { project, layout: id },
    });
  const isEmpty = list.rows.length === 0 && !list.isLoading && list.error === null;
  const button = mayEdit && (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={dialog.open}>
      Create a layout
    </Button>
  );
  return (
    <Page
      title="Layouts"
      isFixed
      back={<BackToTemplates project={project} />}
      description="A layout is the frame of several templates, such as a header and a footer."
      actions={!isEmpty && button}
    >
      <DataTable
        label="Layouts"
        list={list}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        href={({ id }) => `/app/p/${project}/templates/layouts/${id}`}
        onOpen={({ id }) => open(id)}
        phone={({ name, updatedAt }) => ({
          first: <bdi className="cut">{name}</bdi>,
          second: <Time at={updatedAt} isPlain />,
        })}
        empty={
          <Empty
            icon={PanelsTopLeft}
            title="No layouts yet"
            text="A layout has the header and the footer that several templates share. A change of it changes all of them."
            action={button}
          >
            <Code
              label="Creating a layout"
              samples={layoutSamples(url === "" ? window.location.origin : url)}
            />
          </Empty>
        }
      />
      <Dialog opened={isCreating} onClose={dialog.close} title="Create a layout" size="md">
        <NameForm
          action="Create the layout"
          create={(name, idempotencyKey) =>
            api.post<Layout>("/layouts", { name, body: FIRST_BODY }, { idempotencyKey })
          }
          onDone={async ({ id }) => {
            await client.invalidateQueries({ queryKey: ["layouts"] });
            open(id);
          }}
          onCancel={dialog.close}
        />
      </Dialog>
    </Page>
  );
}
