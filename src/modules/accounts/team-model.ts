import { type Static, Type } from "@sinclair/typebox";
import { ACTOR_KINDS, MEMBER_ROLES } from "../../db/schema/accounts.ts";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { EmailAddress } from "../../http/formats.ts";
import { PageQuery } from "../../http/pagination.ts";
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

export const AuditChange = named(
  "AuditChange",
  described(
    Type.Object({
      field: Type.String(),
      before: Nullable(Type.String()),
      after: Nullable(Type.String()),
    }),
    {
      field: "Name of the field",
      before: "Its old value as a text; of a long one, the part that changed",
      after: "Its new value as a text; of a long one, the part that changed",
    },
  ),
  {
    description: "The change of a field",
    example: { field: "name", before: "News", after: "Spring news" },
  },
);

export const AuditRecord = named(
  "AuditRecord",
  described(
    Type.Object({
      id: Type.String(),
      at: Time,
      actor: named(
        "AuditActor",
        described(
          Type.Object({
            kind: OneOf(ACTOR_KINDS),
            id: Nullable(Type.String()),
            label: Type.String(),
          }),
          {
            kind: "USER, KEY, CLI for a command, or SYSTEM for the server itself",
            id: "Id of the user or key; null for CLI and SYSTEM",
            label: "The address of the user, or the name and last characters of the key",
          },
        ),
        {
          description: "Who made a change",
          example: { kind: "USER", id: USER_ID, label: "ada@example.com" },
        },
      ),
      action: Type.String(),
      objectType: Type.String(),
      objectId: Nullable(Type.String()),
      objectName: Nullable(Type.String()),
      fields: Type.Array(Type.String()),
      changes: Type.Array(AuditChange),
      address: Nullable(Type.String()),
    }),
    {
      id: "Id of the record",
      at: "When the change was made",
      actor: "Who made the change",
      action: "The operation, such as `updateContact`",
      objectType: "What was changed, such as `contact`",
      objectId: "Id of the changed object; null if it has none",
      objectName: "Name of the object at that time; null if it has none",
      fields: "Names of the changed fields",
      changes: "Old and new values of changed fields, without secrets and personal data",
      address: "Address of the client; null if no request made the change",
    },
  ),
  {
    description: "A change and who made it",
    example: {
      id: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e14",
      at: EXAMPLE.createdAt,
      actor: { kind: "USER", id: USER_ID, label: "ada@example.com" },
      action: "updateContact",
      objectType: "contact",
      objectId: EXAMPLE.contactId,
      objectName: "grace@example.com",
      fields: ["subscribed"],
      changes: [{ field: "subscribed", before: "true", after: "false" }],
      address: "192.0.2.7",
    },
  },
);
export type AuditRecord = Static<typeof AuditRecord>;

export const AuditQuery = Input({
  ...PageQuery.properties,
  actor: Type.Optional(Type.String({ description: "Only changes by this user or key, by id" })),
  action: Type.Optional(Type.String({ description: "Only this operation" })),
  object: Type.Optional(Type.String({ description: "Only changes of this object, by id" })),
});
