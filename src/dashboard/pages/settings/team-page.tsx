/** The team of a project: its members with their roles, and open invitations. */

import { Button, Skeleton, Stack } from "@mantine/core";
import { UserPlus, Users } from "lucide-react";
import { useShortcuts } from "../../shortcuts.ts";
import { useMay } from "../../state.ts";
import { Empty } from "../../ui/empty.tsx";
import { Field, Fields } from "../../ui/fields.tsx";
import { Problem } from "../../ui/problem.tsx";
import { RoleNeeded } from "../../ui/role-needed.tsx";
import { useCreateDialog } from "../../ui/use-create-dialog.ts";
import { useDelayed } from "../../ui/use-delayed.ts";
import { Invitations } from "./invitations.tsx";
import { InviteDialog } from "./invite-dialog.tsx";
import { Members } from "./members.tsx";
import { ROLE_CHOICES } from "./roles.ts";
import { SettingsFrame } from "./settings-frame.tsx";
import { type Team, useTeam } from "./use-team.ts";

export function TeamPage() {
  const mayManage = useMay("ADMIN");
  const [isInviting, dialog] = useCreateDialog(mayManage);
  useShortcuts({ c: dialog.open }, mayManage);
  return (
    <SettingsFrame
      actions={
        mayManage && (
          <Button leftSection={<UserPlus size={16} aria-hidden />} onClick={dialog.open}>
            Invite a person
          </Button>
        )
      }
    >
      <RoleNeeded role="ADMIN">
        <div className="team">
          <TeamContent onInvite={dialog.open} />
        </div>
      </RoleNeeded>
      <InviteDialog isOpen={isInviting} onClose={dialog.close} />
    </SettingsFrame>
  );
}

function TeamContent({ onInvite }: { onInvite: () => void }) {
  const { data, error, isPending, refetch } = useTeam();
  const isSlow = useDelayed(isPending);
  if (error !== null && data === undefined) {
    return <Problem error={error} onRetry={() => void refetch()} />;
  }
  if (data === undefined) return isSlow ? <TeamSkeleton /> : null;
  return (
    <>
      {isAlone(data) ? <NoTeam onInvite={onInvite} /> : <Lists team={data} />}
      <section className="section">
        <h2>Roles</h2>
        <Fields>
          {ROLE_CHOICES.map(({ value, label, description }) => (
            <Field key={value} label={label}>
              {description}
            </Field>
          ))}
        </Fields>
      </section>
    </>
  );
}

const isAlone = ({ members, invitations }: Team) => members.length + invitations.length === 0;

function Lists({ team }: { team: Team }) {
  const { members, invitations } = team;
  return (
    <>
      <section className="section">
        <h2>Members</h2>
        <p className="muted settings-note">
          Owners of the installation may open every project and are not in this list.
        </p>
        {members.length === 0 ? (
          <p className="muted">Nobody has accepted an invitation yet.</p>
        ) : (
          <Members members={members} />
        )}
      </section>
      {invitations.length > 0 && (
        <section className="section">
          <h2>Open invitations</h2>
          <Invitations invitations={invitations} />
        </section>
      )}
    </>
  );
}

function NoTeam({ onInvite }: { onInvite: () => void }) {
  return (
    <Empty
      icon={Users}
      title="No members yet"
      text="Only owners of the installation can open this project. Invite the people you work with."
      action={<Button onClick={onInvite}>Invite a person</Button>}
    />
  );
}

function TeamSkeleton() {
  return (
    <Stack gap="md" aria-busy="true">
      <Skeleton height={20} width={120} />
      <Skeleton height={44} />
      <Skeleton height={44} />
      <Skeleton height={44} />
    </Stack>
  );
}
