import { type Static, Type } from "@sinclair/typebox";
import { MEMBER_ROLES } from "../../db/schema/accounts.ts";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { EmailAddress } from "../../http/formats.ts";
import { Input, OneOf } from "../../http/validation.ts";

const Time = Type.String({ format: "date-time" });
const MemberRole = named("MemberRole", OneOf(MEMBER_ROLES), {
  description:
    "ADMIN: everything in the project; EDITOR: contacts, content and sending; VIEWER: reading",
});

const USER_ID = "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e12";
const INVITATION_EXAMPLE = {
  id: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e13",
  email: "eve@example.com",
  role: "EDITOR",
  createdAt: EXAMPLE.createdAt,
  expiresAt: "2026-03-09T09:00:00.000Z",
};
const INVITATION_TEXTS = {
  id: "Id of the invitation",
  email: "The address that is invited",
  role: "The role that the invited person gets",
  createdAt: "When the invitation was made",
  expiresAt: "From when on its link does not work",
};
const INVITATION_FIELDS = {
  id: Type.String(),
  email: Type.String(),
  role: MemberRole,
  createdAt: Time,
  expiresAt: Time,
};

export const TeamMember = named(
  "TeamMember",
  described(
    Type.Object({
      id: Type.String(),
      email: Type.String(),
      name: Type.String(),
      role: MemberRole,
      isDisabled: Type.Boolean(),
      createdAt: Time,
    }),
    {
      id: "Id of the user",
      email: "The address with which the user signs in",
      name: "The name of the user",
      role: "The role of the user in the project",
      isDisabled: "True if the user cannot sign in",
      createdAt: "When the user became a member",
    },
  ),
  {
    description: "A user with a role in the project",
    example: {
      id: USER_ID,
      email: "ada@example.com",
      name: "Ada",
      role: "ADMIN",
      isDisabled: false,
      createdAt: EXAMPLE.createdAt,
    },
  },
);
export type TeamMember = Static<typeof TeamMember>;

export const TeamInvitation = named(
  "TeamInvitation",
  described(Type.Object(INVITATION_FIELDS), INVITATION_TEXTS),
  { description: "An invitation that was not accepted yet", example: INVITATION_EXAMPLE },
);
export type TeamInvitation = Static<typeof TeamInvitation>;

export const CreatedInvitation = named(
  "CreatedInvitation",
  described(Type.Object({ ...INVITATION_FIELDS, link: Nullable(Type.String()) }), {
    ...INVITATION_TEXTS,
    link: "The link to pass on; null if it was sent by mail",
  }),
  {
    description: "A new invitation",
    example: { ...INVITATION_EXAMPLE, link: "https://mail.example/app/invite#TOKEN" },
  },
);

export const Team = named(
  "Team",
  described(
    Type.Object({ members: Type.Array(TeamMember), invitations: Type.Array(TeamInvitation) }),
    {
      members: "The members in the order in which they joined; owners are not among them",
      invitations: "The invitations that were not accepted yet",
    },
  ),
  { description: "The people who may open a project" },
);

export const InvitationInput = named(
  "InvitationInput",
  described(Input({ email: EmailAddress, role: MemberRole }), {
    email: "The address to invite",
    role: "The role that the invited person gets",
  }),
  { description: "A person to invite", example: { email: "eve@example.com", role: "EDITOR" } },
);

export const MemberPatch = named(
  "MemberPatch",
  described(Input({ role: MemberRole }), { role: "The new role" }),
  { description: "The role to change", example: { role: "VIEWER" } },
);

export const MemberParams = Type.Object({ userId: Type.String() });
