import { Button } from "@mantine/core";
import { useState } from "react";
import { api } from "../../api.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Time } from "../../ui/time.tsx";
import { InviteDialog } from "./invite-dialog.tsx";
import { roleWord } from "./roles.ts";
import { type Invitation, useTeamRefresh } from "./use-team.ts";

/** Invitations that were not accepted yet. A link is shown once, so a new one replaces it. */
export function Invitations({ invitations }: { invitations: readonly Invitation[] }) {
  const refresh = useTeamRefresh();
  const [asked, setAsked] = useState<Invitation | null>(null);
  const [isAsking, setIsAsking] = useState(false);
  const [again, setAgain] = useState<Invitation | null>(null);
  const [isInviting, setIsInviting] = useState(false);

  async function withdraw(): Promise<void> {
    if (asked === null) return;
    await api.delete(`/team/invitations/${asked.id}`);
    await refresh();
  }

  return (
    <>
      <ul className="rows">
        {invitations.map((invitation) => (
          <li key={invitation.id} className="team-row">
            <div className="rows-text">
              <div className="cut">{invitation.email}</div>
              <div className="muted small">
                {roleWord(invitation.role)} · the link expires <Time at={invitation.expiresAt} />
              </div>
            </div>
            <div className="team-actions">
              <Button
                size="xs"
                variant="default"
                aria-label={`Invite ${invitation.email} again`}
                onClick={() => {
                  setAgain(invitation);
                  setIsInviting(true);
                }}
              >
                Invite again
              </Button>
              <Button
                size="xs"
                variant="default"
                aria-label={`Withdraw the invitation of ${invitation.email}`}
                onClick={() => {
                  setAsked(invitation);
                  setIsAsking(true);
                }}
              >
                Withdraw
              </Button>
            </div>
          </li>
        ))}
      </ul>
      <Confirm
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        title="Withdraw the invitation?"
        text={`The link that ${asked?.email ?? ""} received stops working.`}
        action="Withdraw the invitation"
        onConfirm={withdraw}
      />
      <InviteDialog
        isOpen={isInviting}
        onClose={() => setIsInviting(false)}
        invitation={again ?? undefined}
      />
    </>
  );
}
