/** Members, invitations and rows of the audit log as the API shows them. */

import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { audit } from "../../db/schema/accounts.ts";
import { isoTime } from "../../lib/clock.ts";
import type { Accounts } from "./service.ts";
import type { AuditRecord, TeamInvitation, TeamMember } from "./team-model.ts";

type Member = ReturnType<Accounts["members"]["get"]>;
type Invitation = ReturnType<Accounts["invitations"]["list"]>[number];

const FieldNames = Type.Array(Type.String());

export function presentMember({
  id,
  email,
  name,
  role,
  disabledAt,
  createdAt,
}: Member): TeamMember {
  const isDisabled = disabledAt !== null;
  return { id, email, name, role, isDisabled, createdAt: isoTime(createdAt) };
}

export function presentInvitation({ id, email, role, ...times }: Invitation): TeamInvitation {
  const createdAt = isoTime(times.createdAt);
  return { id, email, role, createdAt, expiresAt: isoTime(times.expiresAt) };
}

export const presentAudit = (rows: readonly (typeof audit.$inferSelect)[]): AuditRecord[] =>
  rows.map(({ id, at, actorKind, actorId, actorLabel, action, objectType, objectId, ...row }) => ({
    id,
    at: isoTime(at),
    actor: { kind: actorKind, id: actorId, label: actorLabel },
    action,
    objectType,
    objectId,
    fields: fieldNamesIn(row.fields),
    address: row.address,
  }));

function fieldNamesIn(json: string): Static<typeof FieldNames> {
  return Value.Parse(FieldNames, JSON.parse(json));
}
