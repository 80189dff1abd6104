/** The relay providers that report what became of mail. A source opens in a drawer. */

import { Button } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { MailCheck, Plus } from "lucide-react";
import type { ReportSource } from "../../../modules/relay-reports/model.ts";
import { api } from "../../api.ts";
import { useShortcuts } from "../../shortcuts.ts";
import { useMay } from "../../state.ts";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { RowDrawer } from "../../ui/row-drawer.tsx";
import { useCreateDialog } from "../../ui/use-create-dialog.ts";
import { useList } from "../../ui/use-list.ts";
import { SOURCE_COLUMNS, sourceLines } from "./columns.tsx";
import { CreateSource } from "./create-source.tsx";
import { GUIDES } from "./guides.tsx";
import { sourcePath } from "./set-up.tsx";
import { ReportsFrame } from "./reports-frame.tsx";
import { ReportSourceView } from "./source-view.tsx";

const route = getRouteApi("/user/p/$project/relay-reports");

export function RelayReportsPage() {
  const mayManage = useMay("ADMIN");
  return mayManage ? <RelayReports /> : <ReportsFrame>{null}</ReportsFrame>;
}

function RelayReports() {
  const { project } = route.useParams();
  const { source } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useList<ReportSource>("report-sources", "/report-sources");
  const [isCreating, dialog] = useCreateDialog(true);
  useShortcuts({ c: dialog.open });
  const open = (id: string) => void navigate({ search: { source: id } });
  const close = () => void navigate({ search: {} });

  const isEmpty = list.rows.length === 0 && !list.isLoading && list.error === null;
  const button = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={dialog.open}>
      Add a provider
    </Button>
  );
  return (
    <ReportsFrame actions={!isEmpty && button}>
      <DataTable
        label="Sources of reports"
        list={list}
        columns={SOURCE_COLUMNS}
        rowKey={({ id }) => id}
        href={({ id }) => `/app/p/${project}/relay-reports?source=${id}`}
        onOpen={({ id }) => open(id)}
        openKey={source}
        phone={sourceLines}
        empty={
          <Empty
            icon={MailCheck}
            title="No relay reports yet"
            text="A relay accepts your mail and delivers it later: add its provider to learn here what was delivered, bounced or reported as spam."
            action={button}
          />
        }
      />
      <RowDrawer
        id={source}
        list={list}
        noun="source"
        queryKey="report-sources"
        effect={({ provider }) =>
          `Reports of ${GUIDES[provider].name} to this URL are refused at once. What they have changed stays.`
        }
        onDelete={(id) => api.delete(sourcePath(id))}
        onOpen={open}
        onClose={close}
      >
        {(opened) => <ReportSourceView key={opened.id} source={opened} />}
      </RowDrawer>
      <CreateSource isOpen={isCreating} onClose={dialog.close} />
    </ReportsFrame>
  );
}
