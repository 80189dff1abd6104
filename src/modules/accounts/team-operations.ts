/** Texts of the operations on the team for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

const userId = { userId: "Id of the user" };

export const teamOperations = describeOperations(
  { tag: "Team", id: "Id of the invitation" },
  {
    getTeam: {
      role: "ADMIN",
      access: "SESSION",
      summary: "List the members and open invitations of a project",
      description: "Owners of the installation are not listed; they may open every project.",
    },
    inviteMember: {
      role: "ADMIN",
      access: "SESSION",
      needsConfirmation: true,
      summary: "Invite a person to the project",
      description:
        "The link works once and for seven days. It is sent by mail if the server can send mail, " +
        "and is otherwise in the response. An earlier invitation of the address is replaced.",
      isIdempotent: true,
      links: { withdrawInvitation: { id: "/data/id" } },
    },
    withdrawInvitation: {
      role: "ADMIN",
      access: "SESSION",
      summary: "Withdraw an invitation",
      description: "Its link does not work any more.",
    },
    updateMember: {
      role: "ADMIN",
      access: "SESSION",
      needsConfirmation: true,
      summary: "Change the role of a member",
      description:
        "It takes effect with the next request of the member. 409 LAST_ADMIN if the project would " +
        "have no admin; only an owner of the installation may do this.",
      parameters: userId,
    },
    removeMember: {
      role: "ADMIN",
      access: "SESSION",
      needsConfirmation: true,
      summary: "Remove a member from the project",
      description:
        "The user stays, and may be a member of other projects. 409 LAST_ADMIN if the project " +
        "would have no admin; only an owner of the installation may do this.",
      parameters: userId,
    },
  },
);
