/** Schemas of the requests of owners about users. The dashboard sends them; they are not documented. */

import { type Static, Type } from "@sinclair/typebox";
import { MEMBER_ROLES } from "../../db/schema/accounts.ts";
import { BareAddress } from "../../http/formats.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, OneOf } from "../../http/validation.ts";
import { UserName } from "./model.ts";

export const UserQuery = Input({
  ...PageQuery.properties,
  q: Type.Optional(Type.String({ maxLength: 200 })),
  role: Type.Optional(OneOf(["owner", "member"])),
  state: Type.Optional(OneOf(["enabled", "disabled"])),
  factor: Type.Optional(OneOf(["on", "off"])),
});
export type UserQuery = Static<typeof UserQuery>;

export const NewUserInput = Input({
  email: BareAddress,
  name: Type.Optional(UserName),
  isOwner: Type.Optional(Type.Boolean()),
  member: Type.Optional(
    Input({ project: Type.String({ maxLength: 100 }), role: OneOf(MEMBER_ROLES) }),
  ),
});

export const UserPatch = Input({
  name: Type.Optional(UserName),
  isOwner: Type.Optional(Type.Boolean()),
  isDisabled: Type.Optional(Type.Boolean()),
});
