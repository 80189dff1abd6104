/** The drawer of a mailbox: the mail that was read, the test of its login, its password. */

import { Button, PasswordInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ReportMailbox, ReportMailboxTest } from "../../../modules/report-mailboxes/model.ts";
import { api } from "../../api.ts";
import { Field, Fields } from "../../ui/fields.tsx";
import { Problem } from "../../ui/problem.tsx";
import { sentence } from "../../ui/sentence.ts";
import { exactTime, Time } from "../../ui/time.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { MailboxStatus } from "./mailbox-columns.tsx";

const number = new Intl.NumberFormat();

export const mailboxPath = (id: string): string => `/report-mailboxes/${encodeURIComponent(id)}`;

export function ReportMailboxView({ mailbox }: { mailbox: ReportMailbox }) {
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
                {exactTime(new Date(failedAt))}. It is tried again after longer and longer
                intervals.
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
