/** The public page of a campaign: its address, and who may see it. */

import { and, eq, ne } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { campaigns } from "../../db/schema/campaigns.ts";
import { projects } from "../../db/schema/projects.ts";
import { AppError } from "../../lib/errors.ts";
import type { CampaignPatch } from "./model.ts";
import type { CampaignRow } from "./present.ts";

const LONGEST_SLUG = 100;
const MAX_TRIES = 1000;

/** The address of the public page; null if the campaign has none. */
export function archiveUrlOf({ db, url }: App, campaign: CampaignRow): string | null {
  const { isArchived, archiveSlug, projectSeq } = campaign;
  if (!isArchived || archiveSlug === null) return null;
  const match = eq(projects.seq, projectSeq);
  const [project] = db.select({ id: projects.id }).from(projects).where(match).limit(1).all();
  return project === undefined ? null : `${url}/archive/${project.id}/${archiveSlug}`;
}

/** Part of a change: the columns that a request changes; null for none. */
export function archiveColumns(
  app: App,
  campaign: CampaignRow,
  { archived, archiveSlug: given }: CampaignPatch,
): Partial<CampaignRow> | null {
  if (archived === undefined && (given ?? null) === null) return null;
  const isArchived = archived ?? campaign.isArchived;
  if (given) requireFree(app, campaign, given);
  const slug = given ?? campaign.archiveSlug;
  const archiveSlug = slug ?? (isArchived ? newSlug(app, campaign) : null);
  return { isArchived, archiveSlug };
}

function requireFree(app: App, campaign: CampaignRow, slug: string): void {
  if (!isTaken(app, campaign, slug)) return;
  const message = `Another campaign of the project has the archiveSlug ${slug}.`;
  throw new AppError(409, "CONFLICT", message, { suggestion: "Choose another archiveSlug." });
}

function isTaken({ db }: App, { projectSeq, seq }: CampaignRow, slug: string): boolean {
  const match = and(
    eq(campaigns.projectSeq, projectSeq),
    eq(campaigns.archiveSlug, slug),
    ne(campaigns.seq, seq),
  );
  return db.select({ seq: campaigns.seq }).from(campaigns).where(match).limit(1).all().length > 0;
}

/** A slug of the name that no other campaign of the project has. */
function newSlug(app: App, campaign: CampaignRow): string {
  const base =
    campaign.name
      .normalize("NFKD")
      .toLowerCase()
      .replaceAll(/\p{M}+/gu, "")
      .replaceAll(/[^a-z0-9]+/g, "-")
      .slice(0, LONGEST_SLUG - 10)
      .replaceAll(/^-|-$/g, "") || "campaign";
  for (let number = 1; number < MAX_TRIES; number++) {
    const slug = number === 1 ? base : `${base}-${number}`;
    if (!isTaken(app, campaign, slug)) return slug;
  }
  return campaign.id;
}
