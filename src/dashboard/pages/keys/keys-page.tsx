/** The API keys of the project: list, create, revoke. */

import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { KeyRound, Plus } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { ApiKey } from "../../../modules/keys.ts";
import { api } from "../../api.ts";
import { useShortcuts } from "../../shortcuts.ts";
import { useMay } from "../../state.ts";
import { Code } from "../../ui/code.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";
import { RoleNeeded } from "../../ui/role-needed.tsx";
import { useNow } from "../../ui/time.tsx";
import { useCreateDialog } from "../../ui/use-create-dialog.ts";
import { type List, useList } from "../../ui/use-list.ts";
import { useSampleMail } from "../../use-sample-mail.ts";
import { keyColumns, keyLines, shortKey } from "./columns.tsx";
import { CreateKey } from "./create-key.tsx";
import { keySamples } from "./samples.ts";

const DESCRIPTION = "Your applications send a key with each request. Give each its own.";

export function KeysPage() {
  if (useMay("ADMIN")) return <Keys />;
  return (
    <Page title="API keys" description={DESCRIPTION}>
      <RoleNeeded role="ADMIN">{null}</RoleNeeded>
    </Page>
  );
}

function Keys() {
  const [isCreating, dialog] = useCreateDialog(true);
  useShortcuts({ c: dialog.open });
  const list = useList<ApiKey>("keys", "/keys");
  const isEmpty = list.rows.length === 0 && !list.isLoading && list.error === null;
  const button = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={dialog.open}>
      Create a key
    </Button>
  );
  return (
    <Page title="API keys" isFixed description={DESCRIPTION} actions={!isEmpty && button}>
      <KeyTable list={list} action={button} />
      <CreateKey isOpen={isCreating} onClose={dialog.close} />
    </Page>
  );
}

function KeyTable({ list, action }: { list: List<ApiKey>; action: ReactNode }) {
  const client = useQueryClient();
  const nowMs = useNow();
  /** The key in the question; it stays while the dialog closes. */
  const [asked, setAsked] = useState<ApiKey | null>(null);
  const [isAsking, setIsAsking] = useState(false);
  const options = {
    nowMs,
    onRevoke: (key: ApiKey) => {
      setAsked(key);
      setIsAsking(true);
    },
  };

  async function revoke(): Promise<void> {
    if (asked === null) return;
    await api.delete(`/keys/${asked.id}`);
    await client.invalidateQueries({ queryKey: ["keys"] });
  }

  return (
    <>
      <DataTable
        label="API keys"
        list={list}
        columns={keyColumns(options)}
        rowKey={({ id }) => id}
        phone={keyLines(options)}
        empty={<NoKeys action={action} />}
      />
      <Confirm
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        title={`Revoke ${asked?.name ?? ""}?`}
        text={
          <>
            Requests with <code>{asked === null ? "" : shortKey(asked)}</code> are refused at once.
            A revoked key cannot be used again.
          </>
        }
        action="Revoke the key"
        onConfirm={revoke}
      />
    </>
  );
}

function NoKeys({ action }: { action: ReactNode }) {
  const mail = useSampleMail();
  return (
    <Empty
      icon={KeyRound}
      title="No API keys yet"
      text="Create a key to send mail and to manage contacts from your code."
      action={action}
    >
      <Code
        label="A request with a key"
        samples={keySamples({ kind: "SECRET", scope: "SEND", text: "sk_YOUR_KEY" }, mail)}
      />
    </Empty>
  );
}
