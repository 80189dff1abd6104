/** The addresses that the project receives mail for: list, add, remove. */

import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import type { InboundRoute } from "../../../modules/inbound-routes/model.ts";
import { api } from "../../api.ts";
import { useShortcuts } from "../../shortcuts.ts";
import { useAppState, useMay } from "../../state.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { useCreateDialog } from "../../ui/use-create-dialog.ts";
import { AddRoute, NotReceiving } from "./add-route.tsx";
import { ReceivedFrame } from "./received-frame.tsx";
import { routeColumns, routeLines } from "./route-columns.tsx";
import { NoRoutes } from "./routes-empty.tsx";
import { useRoutes } from "./use-received.ts";

export function RoutesPage() {
  const mayManage = useMay("ADMIN");
  const client = useQueryClient();
  const { rows, isLoading, error } = useRoutes();
  const isEmpty = rows.length === 0 && !isLoading && error === null;
  const [isAdding, dialog] = useCreateDialog(mayManage);
  useShortcuts({ c: dialog.open }, mayManage);

  function added(): void {
    dialog.close();
    void client.invalidateQueries({ queryKey: ["inbound-routes"] });
  }

  const button = mayManage && (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={dialog.open}>
      Add a route
    </Button>
  );
  return (
    <ReceivedFrame actions={!isEmpty && button}>
      <RouteList onAdd={dialog.open} />
      <AddRoute isOpen={isAdding} onClose={dialog.close} onAdded={added} />
    </ReceivedFrame>
  );
}

function RouteList({ onAdd }: { onAdd: () => void }) {
  const list = useRoutes();
  const client = useQueryClient();
  const { receivesAs } = useAppState();
  const mayManage = useMay("ADMIN");
  /** The route in the question; it stays while the dialog closes. */
  const [asked, setAsked] = useState<InboundRoute | null>(null);
  const [isAsking, setIsAsking] = useState(false);
  const onRemove = mayManage
    ? (route: InboundRoute) => {
        setAsked(route);
        setIsAsking(true);
      }
    : null;

  async function remove(): Promise<void> {
    if (asked === null) return;
    await api.delete(`/inbound-routes/${encodeURIComponent(asked.id)}`);
    await client.invalidateQueries({ queryKey: ["inbound-routes"] });
  }

  return (
    <>
      {receivesAs === null && list.rows.length > 0 && <NotReceiving />}
      <DataTable
        label="Inbound routes"
        list={list}
        columns={routeColumns(onRemove)}
        rowKey={({ id }) => id}
        phone={routeLines(onRemove)}
        empty={<NoRoutes action={mayManage && <Button onClick={onAdd}>Add a route</Button>} />}
      />
      <Confirm
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        title="Remove this route?"
        text={
          <p>
            Mail for <strong>{asked?.address}</strong> is refused at once, unless another route
            takes it. Mails that arrived before stay.
          </p>
        }
        action="Remove the route"
        onConfirm={remove}
      />
    </>
  );
}
