/** The dialog that adds a mailbox. */

import { PasswordInput, SegmentedControl, Select, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import type { ReportMailbox } from "../../../modules/report-mailboxes/model.ts";
import { api } from "../../api.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { DialogForm } from "../../ui/dialog-form.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";

type Props = { isOpen: boolean; onClose: () => void; onAdded: (mailbox: ReportMailbox) => void };

type Values = Pick<ReportMailbox, "protocol" | "security"> &
  Record<"host" | "port" | "username" | "password" | "folder" | "name", string>;

const INITIAL: Values = {
  protocol: "IMAP",
  host: "",
  port: "",
  security: "TLS",
  username: "",
  password: "",
  folder: "",
  name: "",
};

const PORTS = { IMAP: { TLS: 993, PLAIN: 143 }, POP3: { TLS: 995, PLAIN: 110 } } as const;
const EXAMPLE_USERNAME = "bounces@example.com";
const AFTERWARDS = {
  IMAP: "Reports about your mail are marked as read. Nothing is deleted.",
  POP3: "Reports about your mail are deleted on the server. Other mail stays.",
} as const;
const SECURITIES = [
  { value: "TLS", label: "TLS" },
  { value: "PLAIN", label: "None" },
];
const TEXT = { autoComplete: "off", spellCheck: false } as const;
const REQUIRED = { ...TEXT, required: true, withAsterisk: false } as const;

export function AddMailbox({ isOpen, onClose, onAdded }: Props) {
  return (
    <Dialog opened={isOpen} onClose={onClose} title="Add a mailbox" size={520}>
      <MailboxForm onClose={onClose} onAdded={onAdded} />
    </Dialog>
  );
}

/** Fields that are left empty have the defaults of the interface. */
const bodyOf = ({ protocol, security, host, username, password, ...rest }: Values) => ({
  protocol,
  security,
  host: host.trim(),
  username: username.trim(),
  password,
  ...(rest.port.trim() === "" ? {} : { port: Number(rest.port) }),
  ...(rest.name.trim() === "" ? {} : { name: rest.name.trim() }),
  ...(rest.folder.trim() === "" || protocol === "POP3" ? {} : { folder: rest.folder.trim() }),
});

function MailboxForm({ onClose, onAdded }: Omit<Props, "isOpen">) {
  const client = useQueryClient();
  const form = useApiForm({
    initial: INITIAL,
    submit: (values, idempotencyKey) =>
      api.post<ReportMailbox>("/report-mailboxes", bodyOf(values), { idempotencyKey }),
    async onDone(mailbox) {
      await client.invalidateQueries({ queryKey: ["report-mailboxes"] });
      onAdded(mailbox);
    },
  });
  const { protocol, security } = form.values;
  return (
    <DialogForm form={form} action="Add the mailbox" onCancel={onClose}>
      <div>
        <SegmentedControl
          aria-label="Protocol"
          fullWidth
          data={["IMAP", "POP3"]}
          {...form.field("protocol")}
        />
        <p className="muted small mailbox-after">{AFTERWARDS[protocol]}</p>
      </div>
      <div className="mailbox-server">
        <TextInput
          label="Server"
          placeholder={protocol === "IMAP" ? "imap.example.com" : "pop.example.com"}
          data-autofocus
          {...REQUIRED}
          {...form.field("host")}
        />
        <TextInput
          label="Port"
          inputMode="numeric"
          pattern="[0-9]*"
          placeholder={String(PORTS[protocol][security])}
          {...TEXT}
          {...form.field("port")}
        />
        <Select
          label="Encryption"
          data={SECURITIES}
          allowDeselect={false}
          {...form.field("security")}
        />
      </div>
      {security === "PLAIN" && (
        <p className="small mailbox-plain" data-tone="held">
          The password can be read on the way. Use this only for a server on the same machine.
        </p>
      )}
      <TextInput
        label="User name"
        description="Usually the whole address."
        placeholder={EXAMPLE_USERNAME}
        {...REQUIRED}
        {...form.field("username")}
      />
      <PasswordInput
        label="Password"
        description="Gmail and others want an app password. Microsoft 365 takes no passwords for IMAP and POP3."
        {...REQUIRED}
        autoComplete="new-password"
        {...form.field("password")}
      />
      <div className="mailbox-names">
        {protocol === "IMAP" && (
          <TextInput label="Folder" placeholder="INBOX" {...TEXT} {...form.field("folder")} />
        )}
        <TextInput
          label="Name"
          placeholder={form.values.username || EXAMPLE_USERNAME}
          maxLength={100}
          {...TEXT}
          {...form.field("name")}
        />
      </div>
    </DialogForm>
  );
}
