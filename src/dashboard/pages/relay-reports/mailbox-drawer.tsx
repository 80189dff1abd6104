/** One mailbox: what was read in it, the test of its login, its password. */

import { Button, PasswordInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { ReportMailbox, ReportMailboxTest } from "../../../modules/report-mailboxes/model.ts";
import { api } from "../../api.ts";
import { Field, Fields } from "../../ui/fields.tsx";
import { Problem } from "../../ui/problem.tsx";
import { sentence } from "../../ui/sentence.ts";
import { SideDrawer } from "../../ui/side-drawer.tsx";
import { exactTime, Time } from "../../ui/time.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import type { List } from "../../ui/use-list.ts";
import { MailboxStatus } from "./mailbox-columns.tsx";

const number = new Intl.NumberFormat();

export const mailboxPath = (id: string): string => `/report-mailboxes/${encodeURIComponent(id)}`;

export function MailboxDrawer(props: {
  id: string | undefined;
  list: List<ReportMailbox>;
  onOpen: (id: string) => void;
  onClose: () => void;
  onDelete: (mailbox: ReportMailbox) => void;
}) {
  const { id, list, onOpen, onClose, onDelete } = props;
  const index = list.rows.findIndex((row) => row.id === id);
  const found = list.rows[index];
  // It stays shown while the drawer closes.
  const last = useRef(found);
  useEffect(() => {
    if (found !== undefined) last.current = found;
  }, [found]);
  const mailbox = id === undefined ? last.current : found;
  const next = index === -1 ? undefined : list.rows[index + 1]?.id;
  const previous = list.rows[index - 1]?.id;
  return (
    <SideDrawer
      isOpen={id !== undefined && !list.isLoading}
      onClose={onClose}
      label="Mailbox"
      size={600}
      title={<h2 className="drawer-heading">{mailbox?.name ?? "Mailbox"}</h2>}
      onNext={next === undefined ? undefined : () => onOpen(next)}
      onPrevious={previous === undefined ? undefined : () => onOpen(previous)}
    >
      {mailbox === undefined ? (
        <p className="muted">
          This mailbox does not exist. It may have been deleted, or the address is wrong.
        </p>
      ) : (
        <MailboxView key={mailbox.id} mailbox={mailbox} onDelete={() => onDelete(mailbox)} />
      )}
    </SideDrawer>
  );
}

function MailboxView({ mailbox, onDelete }: { mailbox: ReportMailbox; onDelete: () => void }) {
  const { protocol, security, host, port, username, folder } = mailbox;
  const { received, counted, unknown, lastFetchedAt, failedAt, failure } = mailbox;
  return (
    <>
      <div className="section">
        <Fields>
          <Field label="State">
            <MailboxStatus {...mailbox} />
          </Field>
          {failure !== null && failedAt !== null && (
            <Field label="Failed">
              {sentence(failure)}
              <div className="muted small">
                {exactTime(new Date(failedAt))}. It is tried again, less and less often.
              </div>
            </Field>
          )}
          <Field label="Server">
            {host}:{port}
            <div className="muted small">
              {protocol} {security === "TLS" ? "over TLS" : "without encryption"}
            </div>
          </Field>
          <Field label="User name">{username}</Field>
          {protocol === "IMAP" && <Field label="Folder">{folder}</Field>}
          <Field label="Last read">
            {lastFetchedAt === null ? "Never" : <Time at={lastFetchedAt} />}
          </Field>
          <Field label="Messages">
            {number.format(received)} read, {number.format(counted)} counted,{" "}
            {number.format(unknown)} other mail
            <div className="muted small">
              Counted reports changed something here. Other mail is no report about a mail of this
              project, and stays as it is.
            </div>
          </Field>
        </Fields>
      </div>
      <div className="section">
        <LoginTest id={mailbox.id} />
      </div>
      <div className="section">
        <NewPassword id={mailbox.id} />
      </div>
      <Button variant="default" leftSection={<Trash2 size={15} aria-hidden />} onClick={onDelete}>
        Delete the mailbox
      </Button>
    </>
  );
}

function LoginTest({ id }: { id: string }) {
  const client = useQueryClient();
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => api.post<ReportMailboxTest>(`${mailboxPath(id)}/test`),
    onSettled: () => client.invalidateQueries({ queryKey: ["report-mailboxes"] }),
  });
  return (
    <>
      <div className="report-test">
        <Button variant="default" loading={isPending} onClick={() => mutate()}>
          Test the login
        </Button>
        <span className="muted small">Logs in and counts the messages. Nothing is changed.</span>
      </div>
      {error !== null && <Problem error={error} />}
      <p className="report-result" role="status">
        {data !== undefined && !isPending && <TestResult {...data} />}
      </p>
    </>
  );
}

function TestResult({ messages, reason }: ReportMailboxTest) {
  if (reason !== null) return <span data-tone="failed">{sentence(reason)}</span>;
  const count = messages ?? 0;
  return (
    <span data-tone="good">
      The login works. {number.format(count)} {count === 1 ? "message is" : "messages are"} there.
    </span>
  );
}

function NewPassword({ id }: { id: string }) {
  const client = useQueryClient();
  const [isSet, setIsSet] = useState(false);
  const form = useApiForm({
    initial: { password: "" },
    submit: (values) => api.patch<ReportMailbox>(mailboxPath(id), values),
    async onDone() {
      form.form.reset();
      setIsSet(true);
      await client.invalidateQueries({ queryKey: ["report-mailboxes"] });
    },
  });
  return (
    <form onSubmit={form.onSubmit} onChange={() => setIsSet(false)}>
      <PasswordInput
        label="New password"
        description="The mailbox is read with it at once."
        required
        withAsterisk={false}
        autoComplete="new-password"
        inputContainer={(input) => (
          <div className="report-field">
            <div className="grow">{input}</div>
            <Button type="submit" variant="default" loading={form.isBusy}>
              Replace the password
            </Button>
          </div>
        )}
        {...form.field("password")}
      />
      {form.error !== null && <Problem error={form.error} />}
      <p className="report-result" role="status">
        {isSet && <span data-tone="good">The password is replaced.</span>}
      </p>
    </form>
  );
}
