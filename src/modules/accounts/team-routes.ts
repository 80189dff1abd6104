/**
 * GET    /team                      members and open invitations
 * POST   /team/invitations          invite a person
 * DELETE /team/invitations/{id}     withdraw an invitation
 * PATCH  /team/{userId}             change a role
 * DELETE /team/{userId}             remove a member
 */

import { Elysia, status } from "elysia";
import type { Admission } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope, envelope, IdParams, NoContent, withErrors } from "../../http/envelope.ts";
import { normalizedAddress } from "../../http/formats.ts";
import type { Announcements } from "../../events/announcements.ts";
import type { Accounts } from "./service.ts";
import {
  CreatedInvitation,
  InvitationInput,
  MemberParams,
  MemberPatch,
  Team,
  TeamMember,
} from "./team-model.ts";
import { teamOperations } from "./team-operations.ts";
import { presentInvitation, presentMember } from "./team-present.ts";

export function teamRoutes(deps: {
  admission: Admission;
  accounts: Accounts;
  announcements: Pick<Announcements, "announce">;
}) {
  const { admission, accounts } = deps;
  const { members, invitations } = accounts;

  /** Open pages offer other actions after a role has changed. */
  function announceChange({ seq: projectSeq, id }: { seq: number; id: string }): void {
    deps.announcements.announce({ projectSeq, type: "project.changed", id });
  }

  return new Elysia({ name: "team-routes", prefix: "/team" })
    .use(admission.projectSession)
    .get(
      "",
      ({ project }) =>
        envelope({
          members: members.list(project.seq).map(presentMember),
          invitations: invitations.list(project.seq).map(presentInvitation),
        }),
      { response: withErrors({ 200: Envelope(Team) }), detail: teamOperations.getTeam },
    )
    .post(
      "/invitations",
      ({ project, user, body, once }) =>
        once(() => {
          const email = normalizedAddress(body.email).toLowerCase();
          const by = user.name === "" ? user.email : user.name;
          const invite = invitations.invite(project, { email, role: body.role, by });
          return () => {
            const { invitation, link } = invite();
            const data = { ...presentInvitation(invitation), link };
            return { status: 201, body: envelope(data), isSecret: true };
          };
        }),
      {
        body: limited(InvitationInput, BODY_LIMITS.settings),
        response: withErrors({ 201: Envelope(CreatedInvitation) }),
        detail: teamOperations.inviteMember,
      },
    )
    .delete(
      "/invitations/:id",
      async ({ project, params, storeWithoutQuota }) => {
        await storeWithoutQuota(invitations.withdraw(project.seq, params.id));
        return status(204, undefined);
      },
      {
        params: IdParams,
        response: withErrors({ 204: NoContent }),
        detail: teamOperations.withdrawInvitation,
      },
    )
    .patch(
      "/:userId",
      async ({ project, user, params, body, storeWithoutQuota }) => {
        const member = { projectSeq: project.seq, userId: params.userId, by: user };
        const change = members.setRole(member, body.role);
        const changed = await storeWithoutQuota(change);
        announceChange(project);
        return envelope(presentMember(changed));
      },
      {
        params: MemberParams,
        body: limited(MemberPatch, BODY_LIMITS.settings),
        response: withErrors({ 200: Envelope(TeamMember) }),
        detail: teamOperations.updateMember,
      },
    )
    .delete(
      "/:userId",
      async ({ project, user, params, storeWithoutQuota }) => {
        const member = { projectSeq: project.seq, userId: params.userId, by: user };
        await storeWithoutQuota(members.remove(member));
        announceChange(project);
        return status(204, undefined);
      },
      {
        params: MemberParams,
        response: withErrors({ 204: NoContent }),
        detail: teamOperations.removeMember,
      },
    );
}
