/** The relay providers that report what became of mail. A source opens in a drawer. */

import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { MailCheck, Plus } from "lucide-react";
import { useState } from "react";
import type { ReportSource } from "../../../modules/relay-reports/model.ts";
import { api } from "../../api.ts";
import { useShortcuts } from "../../shortcuts.ts";
import { useMay } from "../../state.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { useCreateDialog } from "../../ui/use-create-dialog.ts";
import { useList } from "../../ui/use-list.ts";
import { SOURCE_COLUMNS, sourceLines } from "./columns.tsx";
import { CreateSource } from "./create-source.tsx";
import { GUIDES } from "./guides.tsx";
import { sourcePath } from "./set-up.tsx";
import { ReportsFrame } from "./reports-frame.tsx";
import { SourceDrawer } from "./source-drawer.tsx";

const route = getRouteApi("/user/p/$project/relay-reports");

export function RelayReportsPage() {
  const mayManage = useMay("ADMIN");
  return mayManage ? <RelayReports /> : <ReportsFrame>{null}</ReportsFrame>;
}

function RelayReports() {
  const { project } = route.useParams();
  const { source } = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const list = useList<ReportSource>("report-sources", "/report-sources");
  const [isCreating, dialog] = useCreateDialog(true);
  useShortcuts({ c: dialog.open });
  /** The source in the question; it stays while the dialog closes. */
  const [asked, setAsked] = useState<ReportSource | null>(null);
  const [isAsking, setIsAsking] = useState(false);
  const open = (id: string) => void navigate({ search: { source: id } });
  const close = () => void navigate({ search: {} });

  async function remove(): Promise<void> {
    if (asked === null) return;
    await api.delete(sourcePath(asked.id));
    close();
    await client.invalidateQueries({ queryKey: ["report-sources"] });
  }

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
      <SourceDrawer
        id={source}
        list={list}
        onOpen={open}
        onClose={close}
        onDelete={(found) => {
          setAsked(found);
          setIsAsking(true);
        }}
      />
      <CreateSource isOpen={isCreating} onClose={dialog.close} />
      <Confirm
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        title={`Delete ${asked?.name ?? ""}?`}
        text={
          <p>
            Reports of {asked === null ? "the provider" : GUIDES[asked.provider].name} to this URL
            are refused at once. What they have changed stays.
          </p>
        }
        action="Delete the source"
        onConfirm={remove}
      />
    </ReportsFrame>
  );
}
