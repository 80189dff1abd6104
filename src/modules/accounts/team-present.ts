/** Members and invitations as the API shows them. */

import { isoTime } from "../../lib/clock.ts";
import type { Accounts } from "./service.ts";
import type { TeamInvitation, TeamMember } from "./team-model.ts";

type Member = ReturnType<Accounts["members"]["get"]>;
type Invitation = ReturnType<Accounts["invitations"]["list"]>[number];

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
