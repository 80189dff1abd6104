/** The dialog that invites a person. Where mail cannot leave, its second step shows the link. */

import { Button, Group, Radio, Stack, TextInput } from "@mantine/core";
import type { Static } from "@sinclair/typebox";
import { Check, Copy } from "lucide-react";
import { type Ref, useEffect, useRef, useState } from "react";
import type { CreatedInvitation } from "../../../modules/accounts/team-model.ts";
import { api } from "../../api.ts";
import { useCopy } from "../../ui/copy.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Time } from "../../ui/time.tsx";
import { AddressField, DialogForm } from "../../ui/dialog-form.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { type MemberRole, ROLE_CHOICES, roleWord } from "./roles.ts";
import { type Invitation, useTeamRefresh } from "./use-team.ts";

type Created = Static<typeof CreatedInvitation>;
type Values = { email: string; role: MemberRole };

export function InviteDialog(props: {
  isOpen: boolean;
  onClose: () => void;
  /** Invites this address again; the new link replaces the earlier one. */
  invitation?: Invitation | undefined;
}) {
  const { isOpen, onClose, invitation } = props;
  const [created, setCreated] = useState<Created | null>(null);
  const isAgain = invitation !== undefined;
  const title = created === null ? (isAgain ? "Invite again" : "Invite a person") : "Invited";
  return (
    <Dialog
      opened={isOpen}
      onClose={onClose}
      onExitTransitionEnd={() => setCreated(null)}
      closeOnClickOutside={false}
      title={title}
      size={created === null ? 480 : 560}
    >
      {created === null ? (
        <InviteForm invitation={invitation} onCreated={setCreated} onCancel={onClose} />
      ) : (
        <Invited created={created} onDone={onClose} />
      )}
    </Dialog>
  );
}

function InviteForm(props: {
  invitation: Invitation | undefined;
  onCreated: (created: Created) => void;
  onCancel: () => void;
}) {
  const { invitation, onCreated, onCancel } = props;
  const refresh = useTeamRefresh();
  const initial: Values = {
    email: invitation?.email ?? "",
    // The least role, which a later choice can only widen.
    role: invitation?.role ?? "VIEWER",
  };
  const form = useApiForm({
    initial,
    submit: (values, idempotencyKey) =>
      api.post<Created>(
        "/team/invitations",
        { ...values, email: values.email.trim() },
        { idempotencyKey },
      ),
    onDone: async (created) => {
      onCreated(created);
      await refresh();
    },
  });
  return (
    <DialogForm
      form={form}
      action={invitation === undefined ? "Invite" : "Invite again"}
      onCancel={onCancel}
    >
      {invitation !== undefined && (
        <p className="muted">{invitation.email} gets a new link. The earlier link stops working.</p>
      )}
      {invitation === undefined && <AddressField {...form.field("email")} />}
      <Radio.Group label="Role" {...form.field("role")}>
        <Stack gap="xs" mt={4}>
          {ROLE_CHOICES.map(({ value, label, description }) => (
            <Radio key={value} value={value} label={label} description={description} />
          ))}
        </Stack>
      </Radio.Group>
    </DialogForm>
  );
}

function Invited({ created, onDone }: { created: Created; onDone: () => void }) {
  const { email, role, link, expiresAt } = created;
  const next = useRef<HTMLButtonElement>(null);
  // The button of the form, which had the focus, is gone. Enter must not close a link unseen.
  useEffect(() => next.current?.focus(), []);
  return (
    <Stack gap="md">
      <p role="status">
        {email} is invited as {roleWord(role).toLowerCase()}.{" "}
        {link === null
          ? "A mail with the link is on its way."
          : "Mail cannot leave this server, so pass this link on yourself. It is shown only now."}
      </p>
      {link !== null && <InvitationLink link={link} button={next} />}
      <p className="muted small">
        The link works once and expires <Time at={expiresAt} />.
      </p>
      <Group justify="flex-end">
        <Button ref={link === null ? next : null} variant="default" onClick={onDone}>
          Done
        </Button>
      </Group>
    </Stack>
  );
}

function InvitationLink({ link, button }: { link: string; button: Ref<HTMLButtonElement> }) {
  const { isCopied, copy } = useCopy();
  return (
    <Group gap="xs" align="flex-end">
      <TextInput
        className="grow"
        classNames={{ input: "mono" }}
        aria-label="Link of the invitation"
        readOnly
        value={link}
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
      <Button
        ref={button}
        leftSection={isCopied ? <Check size={16} /> : <Copy size={16} />}
        onClick={() => void copy(link)}
      >
        {isCopied ? "Copied" : "Copy the link"}
      </Button>
    </Group>
  );
}
