/** The settings with which programs send mail to an inbox, with copy buttons, and its deletion. */

import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Inbox } from "../../../modules/inboxes/inbox-model.ts";
import { api } from "../../api.ts";
import { type AppState, useAppState, useProject } from "../../state.ts";
import { Code } from "../../ui/code.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { CopyText } from "../../ui/copy.tsx";
import { Field, Fields } from "../../ui/fields.tsx";
import { SideDrawer } from "../../ui/side-drawer.tsx";
import { Time } from "../../ui/time.tsx";
import { smtpSamples } from "./smtp-samples.ts";
import { inboxPath } from "./use-messages.ts";

export const isDefault = ({ name }: Inbox): boolean => name === "default";

export function ConnectPanel(props: {
  isOpen: boolean;
  inbox: Inbox;
  onClose: () => void;
  onDeleted: () => void;
}) {
  const { isOpen, inbox, onClose, onDeleted } = props;
  const { smtp } = useAppState();
  const [isDeleting, setIsDeleting] = useState(false);
  const project = useProject()?.id ?? null;
  const client = useQueryClient();
  async function remove(): Promise<void> {
    await api.delete(inboxPath(inbox.id));
    await client.invalidateQueries({ queryKey: ["inboxes", project] });
    onDeleted();
  }
  return (
    <SideDrawer
      isOpen={isOpen}
      onClose={onClose}
      title={<h2>Connect</h2>}
      label={`Settings of the inbox ${inbox.name}`}
      size={620}
    >
      <section className="section">
        <h3>SMTP</h3>
        <SmtpFields inbox={inbox} />
      </section>
      {smtp !== null && (
        <section className="section">
          <h3>Send a mail</h3>
          <SmtpCode inbox={inbox} />
        </section>
      )}
      {!isDefault(inbox) && (
        <section className="section">
          <h3>Delete the inbox</h3>
          {inbox.expiresAt !== null && (
            <p className="muted">
              It is deleted by itself <Time at={inbox.expiresAt} />.
            </p>
          )}
          <p className="section-action">
            <Button size="xs" variant="light" color="red" onClick={() => setIsDeleting(true)}>
              Delete {inbox.name}
            </Button>
          </p>
        </section>
      )}
      <Confirm
        isOpen={isDeleting}
        onClose={() => setIsDeleting(false)}
        title={`Delete ${inbox.name}?`}
        text="Its messages, failure rules and sessions are deleted with it, also pinned messages."
        action="Delete the inbox"
        onConfirm={remove}
      />
    </SideDrawer>
  );
}

export function SmtpFields({ inbox }: { inbox: Inbox }) {
  const { smtp } = useAppState();
  const isOpen = isDefault(inbox);
  if (smtp === null) {
    return (
      <p>
        This server takes no mail over SMTP. Start it with{" "}
        <code className="inbox-option">--capture-smtp HOST:PORT</code>.
      </p>
    );
  }
  return (
    <Fields>
      <Field label="Host">
        <CopyText value={hostOf(smtp)} label="Copy the host" />
      </Field>
      <Field label="Port">
        <CopyText value={String(smtp.port)} label="Copy the port" />
      </Field>
      <Field label="Encryption">None needed</Field>
      {isOpen ? (
        <Field label="User and password">Not needed; any are accepted</Field>
      ) : (
        <>
          <Field label="User">
            <CopyText value={inbox.username} label="Copy the user" />
          </Field>
          <Field label="Password">
            <CopyText value={inbox.password} label="Copy the password" />
          </Field>
        </>
      )}
      {!isOpen && (
        <Field label="Without a user">
          Any recipient that ends with{" "}
          <CopyText value={inbox.addressSuffix} label="Copy the ending" />
        </Field>
      )}
    </Fields>
  );
}

/** A listener on all addresses is reached by the name in the address bar. */
function hostOf({ host }: NonNullable<AppState["smtp"]>): string {
  return ["0.0.0.0", "::", "[::]"].includes(host) ? window.location.hostname : host;
}

/** Samples for this inbox; null without an SMTP listener. */
export function SmtpCode({ inbox }: { inbox: Inbox }) {
  const { smtp } = useAppState();
  if (smtp === null) return null;
  const isOpen = isDefault(inbox);
  const samples = smtpSamples({
    host: hostOf(smtp),
    port: smtp.port,
    login: isOpen ? null : { user: inbox.username, password: inbox.password },
    to: "ada@example.com",
  });
  return <Code label="Sending a mail over SMTP" samples={samples} />;
}
