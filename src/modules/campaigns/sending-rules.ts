/**
 * The rules for sending: the fields and the sender that a campaign needs, and the roles that may send it.
 */

import { includesRole, type Role } from "../../http/roles.ts";
import { AppError, REQUIRED, validationError } from "../../lib/errors.ts";
import { isSenderVerified, senderNotVerified } from "../domains/domains.ts";
import { type CampaignRow, missingOf } from "./present.ts";
import type { App } from "../../core/app.ts";
import { domainOf } from "../../protocols/mime/address.ts";
import { normalizedAddress } from "../../http/formats.ts";

/** Throws 422 with each field that the campaign still needs. */
export function requireComplete(campaign: CampaignRow): void {
  const missing = missingOf(campaign);
  if (missing.length === 0) return;
  throw validationError(
    missing.map((field) => ({ field, message: REQUIRED, code: "required" as const })),
  );
}

/** Throws 409 for something that only a campaign of this server can do. */
export function refuseImported({ importedFrom }: CampaignRow, message: string): void {
  if (importedFrom === null) return;
  const suggestion = `${importedFrom} has sent this campaign. Duplicate it: the copy is a draft.`;
  throw new AppError(409, "INVALID_STATE", message, { suggestion });
}

/** Throws 403 unless the role may send notices to contacts who have unsubscribed. */
export function requireNoticeRole(role: Role | null): void {
  if (includesRole(role, "ADMIN")) return;
  const message = "Only an admin may send a TRANSACTIONAL campaign.";
  const suggestion = "Ask an admin or the owner of the project to send it.";
  throw new AppError(403, "FORBIDDEN", message, { suggestion });
}

/**
 * More recipients than a person has confirmed: contacts may come meanwhile, but not whole lists.
 */
const CONFIRMED_SHARE = 1.05;
const CONFIRMED_MORE = 10;

/** Throws 409 if clearly more contacts would get the campaign than a person has confirmed. */
export function requireConfirmed(recipients: number, confirmed: number | undefined): void {
  if (confirmed === undefined) return;
  if (recipients <= Math.max(confirmed * CONFIRMED_SHARE, confirmed + CONFIRMED_MORE)) return;
  const message = `The campaign has ${recipients} recipients now, but ${confirmed} were confirmed.`;
  const suggestion = "Look at its audience again, then confirm the new number.";
  throw new AppError(409, "INVALID_STATE", message, { suggestion });
}

/** Throws 403 unless the sender's domain is verified for the project (docs/specification.md#s2.3). */
export function requireVerifiedSender(app: App, projectSeq: number, from: string): void {
  const domain = domainOf(normalizedAddress(from));
  if (!isSenderVerified(app, projectSeq, domain)) throw senderNotVerified(domain);
}
