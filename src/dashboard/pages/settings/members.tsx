import { Button, Select } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api.ts";
import { useAppState } from "../../state.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Status } from "../../ui/status.tsx";
import { isMemberRole, type MemberRole, ROLE_CHOICES, roleWord } from "./roles.ts";
import { type Member, useTeamRefresh } from "./use-team.ts";

type Change = { member: Member; role: MemberRole };

const shownName = ({ name, email }: Member): string => (name === "" ? email : name);

/** The members. A new role is saved at once, and can be undone. */
export function Members({ members }: { members: readonly Member[] }) {
  const refresh = useTeamRefresh();
  const [asked, setAsked] = useState<Member | null>(null);
  const [isAsking, setIsAsking] = useState(false);
  /** The latest change, with the role before. */
  const [latest, setLatest] = useState<Change | null>(null);
  const change = useMutation({
    mutationFn: ({ member, role }: Change) => api.patch<Member>(`/team/${member.id}`, { role }),
    onSettled: refresh,
  });

  const setRole = (member: Member, role: MemberRole) =>
    change.mutate({ member, role }, { onSuccess: () => setLatest({ member, role: member.role }) });
  const undo = (earlier: Change) => change.mutate(earlier, { onSuccess: () => setLatest(null) });

  async function remove(): Promise<void> {
    if (asked === null) return;
    await api.delete(`/team/${asked.id}`);
    setLatest(null);
    await refresh();
  }

  return (
    <>
      {change.error !== null && <Problem error={change.error} />}
      <ul className="rows">
        {members.map((member) => (
          <MemberRow
            key={member.id}
            member={member}
            role={roleOf(member, change)}
            onRole={(role) => setRole(member, role)}
            onRemove={() => {
              setAsked(member);
              setIsAsking(true);
            }}
          />
        ))}
      </ul>
      <div role="status" className="team-notice">
        {latest !== null && !change.isPending && (
          <>
            The role of {shownName(latest.member)} was changed.
            <Button size="compact-sm" variant="default" onClick={() => undo(latest)}>
              Undo
            </Button>
          </>
        )}
      </div>
      <Confirm
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        title={`Remove ${asked === null ? "" : shownName(asked)}?`}
        text="The project cannot be opened by this person any more. The account stays, and everything that the person made stays too."
        action="Remove from the project"
        onConfirm={remove}
      />
    </>
  );
}

/** While a change is sent, the new role is shown. */
function roleOf(
  member: Member,
  change: { isPending: boolean; variables: Change | undefined },
): MemberRole {
  const isChanging = change.isPending && change.variables?.member.id === member.id;
  return isChanging && change.variables !== undefined ? change.variables.role : member.role;
}

function MemberRow(props: {
  member: Member;
  role: MemberRole;
  onRole: (role: MemberRole) => void;
  onRemove: () => void;
}) {
  const { member, role, onRole, onRemove } = props;
  const { user } = useAppState();
  const isSelf = user?.id === member.id;
  return (
    <li className="team-row">
      <div className="rows-text">
        <div className="cut">
          <strong className="team-name">{shownName(member)}</strong>{" "}
          {isSelf && <span className="muted">(you)</span>}{" "}
          {member.isDisabled && <Status value="DISABLED" />}
        </div>
        {member.name !== "" && <div className="muted small cut">{member.email}</div>}
      </div>
      {isSelf ? (
        <span className="muted small" title="Another admin may change your role">
          {roleWord(role)}
        </span>
      ) : (
        <div className="team-actions">
          <Select
            size="xs"
            className="team-role"
            aria-label={`Role of ${shownName(member)}`}
            data={ROLE_CHOICES.map(({ value, label }) => ({ value, label }))}
            value={role}
            allowDeselect={false}
            onChange={(value) => {
              if (isMemberRole(value) && value !== role) onRole(value);
            }}
          />
          <Button
            size="xs"
            variant="default"
            aria-label={`Remove ${shownName(member)}`}
            onClick={onRemove}
          >
            Remove
          </Button>
        </div>
      )}
    </li>
  );
}
