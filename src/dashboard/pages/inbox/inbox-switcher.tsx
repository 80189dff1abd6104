/** The menu of the inboxes of a project, and the dialog for a new one. */

import { Button, Menu, Select, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Check, ChevronsUpDown, Plus } from "lucide-react";
import type { Inbox } from "../../../modules/inboxes/inbox-model.ts";
import { api } from "../../api.ts";
import { useProject } from "../../state.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Time } from "../../ui/time.tsx";
import { DialogForm } from "../../ui/dialog-form.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { useCreateDialog } from "../../ui/use-create-dialog.ts";

const number = new Intl.NumberFormat();

export function InboxSwitcher(props: {
  inboxes: readonly Inbox[];
  current: Inbox | undefined;
  name: string;
  onChoose: (inbox: Inbox) => void;
  onCreated: (inbox: Inbox) => void;
}) {
  const { inboxes, current, name, onChoose, onCreated } = props;
  const [isCreating, dialog] = useCreateDialog(true);
  return (
    <>
      <Menu position="bottom-start" width={280}>
        <Menu.Target>
          <Button
            variant="default"
            size="xs"
            rightSection={<ChevronsUpDown size={13} aria-hidden />}
            aria-label={`Inbox: ${current?.name ?? name}`}
          >
            {current?.name ?? name}
          </Button>
        </Menu.Target>
        <Menu.Dropdown className="inbox-menu">
          <Menu.Label>Inboxes</Menu.Label>
          {inboxes.map((inbox) => (
            <Menu.Item
              key={inbox.id}
              rightSection={
                inbox.id === current?.id ? <Check size={14} aria-label="current" /> : null
              }
              onClick={() => onChoose(inbox)}
            >
              <span className="inbox-choice">
                <span className="cut">{inbox.name}</span>
                <span className="muted small">
                  {inbox.unread > 0 ? `${number.format(inbox.unread)} unread` : ""}
                  {inbox.expiresAt === null ? null : (
                    <>
                      {" "}
                      ends <Time at={inbox.expiresAt} isPlain />
                    </>
                  )}
                </span>
              </span>
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item leftSection={<Plus size={14} />} onClick={dialog.open}>
            New inbox…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Dialog opened={isCreating} onClose={dialog.close} title="New inbox">
        <NewInbox
          onCancel={dialog.close}
          onCreated={(inbox) => {
            dialog.close();
            onCreated(inbox);
          }}
        />
      </Dialog>
    </>
  );
}

const LIFETIMES = [
  { value: "3600", label: "1 hour" },
  { value: "86400", label: "1 day" },
  { value: "604800", label: "7 days" },
  { value: "", label: "Until it is deleted" },
];

function NewInbox(props: { onCancel: () => void; onCreated: (inbox: Inbox) => void }) {
  const { onCancel, onCreated } = props;
  const project = useProject()?.id ?? null;
  const client = useQueryClient();
  const form = useApiForm({
    initial: { name: "", ttlSeconds: "86400" },
    submit: ({ name, ttlSeconds }, idempotencyKey) =>
      api.post<Inbox>(
        "/inboxes",
        { name: name.trim(), ...(ttlSeconds === "" ? {} : { ttlSeconds: Number(ttlSeconds) }) },
        { idempotencyKey },
      ),
    onDone: async (inbox) => {
      await client.invalidateQueries({ queryKey: ["inboxes", project] });
      onCreated(inbox);
    },
  });
  return (
    <DialogForm
      form={form}
      action="Create the inbox"
      isIncomplete={form.values.name.trim() === ""}
      onCancel={onCancel}
    >
      <p className="muted">
        Mail arrives in it by its own SMTP user, or by addresses with its own ending. Tests that run
        at the same time then do not see each other’s mail.
      </p>
      <TextInput
        label="Name"
        description="Letters, digits, dots, hyphens and underscores"
        placeholder="signup-test"
        data-autofocus
        autoComplete="off"
        {...form.field("name")}
      />
      <Select
        label="Time to live"
        description="The inbox and its messages are deleted afterwards"
        data={LIFETIMES}
        allowDeselect={false}
        {...form.field("ttlSeconds")}
      />
    </DialogForm>
  );
}
