/** Members, invitations and rows of the audit log as the API shows them. */

import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { audit } from "../../db/schema/accounts.ts";
import { isoTime } from "../../lib/clock.ts";
import type { Accounts } from "./service.ts";
import {
  AuditChange,
  type AuditRecord,
  type TeamInvitation,
  type TeamMember,
} from "./team-model.ts";

type Member = ReturnType<Accounts["members"]["get"]>;
type Invitation = ReturnType<Accounts["invitations"]["list"]>[number];

type AuditRow = typeof audit.$inferSelect;

const FieldNames = Type.Array(Type.String());
const Changes = Type.Array(AuditChange);

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

export function presentAudit(row: AuditRow, objectName: string | null): AuditRecord {
  const { id, action, objectType, objectId, address } = row;
  return {
    id,
    at: isoTime(row.at),
    actor: { kind: row.actorKind, id: row.actorId, label: row.actorLabel },
    action,
    objectType,
    objectId,
    objectName,
    fields: Value.Parse(FieldNames, JSON.parse(row.fields)),
    changes: Value.Parse(Changes, JSON.parse(row.changes)),
    address,
  };
}
