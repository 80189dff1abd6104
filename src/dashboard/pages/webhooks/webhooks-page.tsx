/** The webhooks of the project: the addresses that its events are sent to. */

import "./styles.ts";
import { Button } from "@mantine/core";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Plus, Webhook as WebhookIcon } from "lucide-react";
import type { ReactNode } from "react";
import type { Webhook } from "../../../modules/webhooks/model.ts";
import { useShortcuts } from "../../shortcuts.ts";
import { useAppState, useMay } from "../../state.ts";
import { Code } from "../../ui/code.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ExportButton, ExportProgress, useExport } from "../../ui/export-button.tsx";
import { Page } from "../../ui/page.tsx";
import { useCreateDialog } from "../../ui/use-create-dialog.ts";
import { useList } from "../../ui/use-list.ts";
import { WEBHOOK_COLUMNS, webhookLines } from "./columns.tsx";
import { CreateWebhook } from "./create-webhook.tsx";
import { WEBHOOK_CSV } from "./csv.ts";
import { createSamples } from "./samples.ts";

const route = getRouteApi("/user/p/$project/webhooks");

export function WebhooksPage() {
  const { project } = route.useParams();
  const navigate = useNavigate();
  const list = useList<Webhook>("webhooks", "/webhooks");
  const run = useExport({ path: "/webhooks", columns: WEBHOOK_CSV, noun: "webhooks" });
  const mayManage = useMay("ADMIN");
  const [isCreating, dialog] = useCreateDialog(mayManage);
  useShortcuts({ c: dialog.open }, mayManage);
  const open = (id: string) =>
    void navigate({ to: "/p/$project/webhooks/$webhook", params: { project, webhook: id } });
  const isEmpty = list.rows.length === 0 && !list.isLoading && list.error === null;
  const button = mayManage && (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={dialog.open}>
      Create a webhook
    </Button>
  );
  return (
    <Page
      title="Webhooks"
      isFixed
      description="A webhook sends the events of the project to a URL of yours, each with a POST request."
      actions={
        !isEmpty && (
          <>
            <ExportButton run={run} isDisabled={list.rows.length === 0} />
            {button}
          </>
        )
      }
    >
      <ExportProgress run={run} />
      <DataTable
        label="Webhooks"
        list={list}
        columns={WEBHOOK_COLUMNS}
        rowKey={({ id }) => id}
        href={({ id }) => `/app/p/${project}/webhooks/${id}`}
        onOpen={({ id }) => open(id)}
        phone={webhookLines}
        empty={<NoWebhooks action={button} />}
      />
      <CreateWebhook isOpen={isCreating} onClose={dialog.close} onDone={open} />
    </Page>
  );
}

function NoWebhooks({ action }: { action: ReactNode }) {
  const { url } = useAppState();
  const base = url === "" ? window.location.origin : url;
  return (
    <Empty
      icon={WebhookIcon}
      title="No webhooks yet"
      text={
        action === false
          ? "An admin of the project can add an address that gets the events."
          : "Add the address of your server to get events such as email.bounced as they happen."
      }
      action={action}
    >
      <Code label="Create a webhook with the API" samples={createSamples(base)} />
    </Empty>
  );
}
