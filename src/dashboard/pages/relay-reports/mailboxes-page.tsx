/** The mailboxes from which reports are fetched. A mailbox opens in a drawer. */

import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Mailbox, Plus } from "lucide-react";
import { useEffect } from "react";
import type { ReportMailbox } from "../../../modules/report-mailboxes/model.ts";
import { api } from "../../api.ts";
import { useShortcuts } from "../../shortcuts.ts";
import { useMay } from "../../state.ts";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { RowDrawer } from "../../ui/row-drawer.tsx";
import { useCreateDialog } from "../../ui/use-create-dialog.ts";
import { type List, useList } from "../../ui/use-list.ts";
import { AddMailbox } from "./add-mailbox.tsx";
import { isNew, MAILBOX_COLUMNS, mailboxLines } from "./mailbox-columns.tsx";
import { mailboxPath, ReportMailboxView } from "./mailbox-view.tsx";
import { ReportsFrame } from "./reports-frame.tsx";

const route = getRouteApi("/user/p/$project/relay-reports/mailboxes");
/** A mailbox that is being read for the first time is looked at again after this time. */
const RENEW_MS = 2_000;

export function MailboxesPage() {
  const mayManage = useMay("ADMIN");
  return mayManage ? <Mailboxes /> : <ReportsFrame>{null}</ReportsFrame>;
}

function Mailboxes() {
  const { project } = route.useParams();
  const { mailbox } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useList<ReportMailbox>("report-mailboxes", "/report-mailboxes");
  useRenewed(list);
  const [isAdding, dialog] = useCreateDialog(true);
  useShortcuts({ c: dialog.open });
  const open = (id: string) => void navigate({ search: { mailbox: id } });
  const close = () => void navigate({ search: {} });
  const isEmpty = list.rows.length === 0 && !list.isLoading && list.error === null;
  const button = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={dialog.open}>
      Add a mailbox
    </Button>
  );
  return (
    <ReportsFrame actions={!isEmpty && button}>
      <DataTable
        label="Mailboxes"
        list={list}
        columns={MAILBOX_COLUMNS}
        rowKey={({ id }) => id}
        href={({ id }) => `/app/p/${project}/relay-reports/mailboxes?mailbox=${id}`}
        onOpen={({ id }) => open(id)}
        openKey={mailbox}
        phone={mailboxLines}
        empty={
          <Empty
            icon={Mailbox}
            title="No mailboxes yet"
            text="Where other servers cannot reach this one on port 25, bounces wait in a mailbox at a provider: add it to have them counted here."
            action={button}
          />
        }
      />
      <RowDrawer
        id={mailbox}
        list={list}
        noun="mailbox"
        queryKey="report-mailboxes"
        effect={() =>
          "It is not read any more. Nothing changes on its server, and what its reports have changed here stays."
        }
        onDelete={(id) => api.delete(mailboxPath(id))}
        onOpen={open}
        onClose={close}
      >
        {(opened) => <ReportMailboxView key={opened.id} mailbox={opened} />}
      </RowDrawer>
      <AddMailbox
        isOpen={isAdding}
        onClose={dialog.close}
        onAdded={({ id }) => {
          dialog.close();
          open(id);
        }}
      />
    </ReportsFrame>
  );
}

/** The server does not tell when a mailbox was read, so the list is read again for a new one. */
function useRenewed({ rows }: List<ReportMailbox>): void {
  const client = useQueryClient();
  const isWaiting = rows.some(isNew);
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setInterval(
      () => void client.invalidateQueries({ queryKey: ["report-mailboxes"] }),
      RENEW_MS,
    );
    return () => clearInterval(timer);
  }, [isWaiting]);
}
