/**
 * GET  /archive/{projectId}           the campaigns that a project shows to the public
 * GET  /archive/{projectId}/{slug}    one of them
 *
 * These pages need no sign-in. They are rendered without the data of any contact, their links to
 * unsubscribe lead nowhere, and search engines are asked not to list them. A campaign is shown once
 * it is being sent, so that the link in its mails works and drafts stay private.
 */

import { and, desc, eq, isNotNull } from "drizzle-orm";
import { Elysia } from "elysia";
import type { App } from "../../core/app.ts";
import { campaigns } from "../../db/schema/campaigns.ts";
import { projects } from "../../db/schema/projects.ts";
import { badLinkPage, errorPage, Html, linksResponse, pageResponse } from "../../http/page.ts";
import { AppError } from "../../lib/errors.ts";
import { describeError } from "../../lib/log.ts";
import { newId } from "../../lib/id.ts";
import { onRowsRewritten } from "../../lib/cached-rows.ts";
import { perApp } from "../../lib/per-app.ts";
import { chooseTexts } from "../../render/language.ts";
import { previewHeaders } from "../../render/preview-document.ts";
import { brandOf } from "../branding.ts";
import { renderPreview, showDocument } from "../content-work/content-work.ts";
import { archivedSource } from "./message.ts";
import { archiveOperations } from "./archive-operations.ts";
import type { CampaignRow } from "./present.ts";

/** Campaigns on one page. */
const MAX_LISTED = 50;
/** Rendered campaigns that are kept, and their characters. */
const MAX_CACHED = 200;
const MAX_CACHED_CHARACTERS = 16 * 1024 * 1024;

type Project = { seq: number; name: string; language: string };
type Shown = { subject: string; html: string };

const PAGES = { 200: Html, 404: Html, 500: Html, 503: Html };

export function archivePages(app: App) {
  function answering(answer: (params: string[], request: Request) => Promise<Response>) {
    return async ({ request }: { request: Request }): Promise<Response> => {
      const texts = chooseTexts(null, request.headers.get("accept-language"));
      try {
        return await answer(pathOf(request), request);
      } catch (error) {
        const status = error instanceof AppError ? error.status : 500;
        if (status === 404) return pageResponse(badLinkPage(texts), 404);
        app.log.error("a page of an archive failed", { status, error: describeError(error) });
        return pageResponse(errorPage(texts), status === 503 ? 503 : 500);
      }
    };
  }

  async function list([projectId = ""]: string[]): Promise<Response> {
    const project = findProject(app, projectId);
    const shown: Parameters<typeof linksResponse>[0]["links"][number][] = [];
    // One after the other: too many renders of a project at once are refused.
    for (const campaign of archived(app, project.seq)) {
      const { subject: label } = await rendered(app, project, campaign);
      const at = campaign.startedAt ?? campaign.createdAt;
      shown.push({ href: `/archive/${projectId}/${campaign.archiveSlug ?? ""}`, label, at });
    }
    if (shown.length === 0) throw notShown();
    const { name, language } = project;
    return linksResponse({ language, title: name, brand: brandOf(app, project.seq), links: shown });
  }

  async function show([projectId = "", slug = ""]: string[]): Promise<Response> {
    const project = findProject(app, projectId);
    const [campaign] = archived(app, project.seq, slug);
    if (campaign === undefined) throw notShown();
    const { html } = await rendered(app, project, campaign);
    const images = app.url.startsWith("http:") ? "https: http:" : "https:";
    return new Response(html, { headers: { ...previewHeaders("text/html", images), ...PUBLIC } });
  }

  return new Elysia({ name: "campaign-archive" })
    .get("/archive/:projectId", answering(list), {
      response: PAGES,
      detail: archiveOperations.listArchive,
    })
    .get("/archive/:projectId/:slug", answering(show), {
      response: PAGES,
      detail: archiveOperations.showArchived,
    });
}

const PUBLIC = {
  "Cache-Control": "public, max-age=60",
  "X-Robots-Tag": "noindex",
  "Cross-Origin-Resource-Policy": "cross-origin",
};

const pathOf = ({ url }: Request): string[] =>
  new URL(url).pathname
    .split("/")
    .filter((part) => part !== "")
    .slice(1);

function notShown(): AppError {
  return new AppError(404, "CAMPAIGN_NOT_FOUND", "There is no such page.");
}

function findProject({ db }: App, id: string): Project {
  const match = and(eq(projects.id, id), eq(projects.isEnabled, true));
  const [project] = db.select().from(projects).where(match).limit(1).all();
  if (project === undefined) throw notShown();
  return project;
}

/** The campaigns that are shown, newest first. */
function archived({ db }: App, projectSeq: number, slug?: string): CampaignRow[] {
  return db
    .select()
    .from(campaigns)
    .where(
      and(
        eq(campaigns.projectSeq, projectSeq),
        isNotNull(campaigns.archiveSlug),
        slug === undefined ? undefined : eq(campaigns.archiveSlug, slug),
        eq(campaigns.isArchived, true),
        isNotNull(campaigns.startedAt),
      ),
    )
    .orderBy(desc(campaigns.startedAt), desc(campaigns.seq))
    .limit(MAX_LISTED)
    .all();
}

/** The rendered campaigns, the least recently used one first. */
const cache = perApp((app: App) => {
  const pages = new Map<string, { shown: Promise<Shown>; characters: number }>();
  onRowsRewritten(app, SOURCES, () => pages.clear());
  return pages;
});
/** The tables with the texts of the pages. */
const SOURCES = ["campaigns", "messages", "message_pieces", "templates", "layouts"];

/** A campaign as the public sees it. Many readers of a mail may open its page at the same time. */
function rendered(app: App, project: Project, campaign: CampaignRow): Promise<Shown> {
  const cached = cache(app);
  const { seq, revision, messageSeq, archiveSlug } = campaign;
  const { name, language } = project;
  const key = JSON.stringify([seq, revision, messageSeq, archiveSlug, name, language]);
  const known = cached.get(key);
  const entry = known ?? { shown: render(app, project, campaign), characters: 0 };
  cached.delete(key);
  cached.set(key, entry);
  if (known === undefined) void keep(cached, key, entry);
  return entry.shown;
}

/** A campaign that cannot be rendered now is tried again for the next reader. */
async function keep(
  cached: ReturnType<typeof cache>,
  key: string,
  entry: { shown: Promise<Shown>; characters: number },
): Promise<void> {
  try {
    entry.characters = (await entry.shown).html.length;
    evict(cached);
  } catch {
    cached.delete(key);
  }
}

function evict(cached: ReturnType<typeof cache>): void {
  let characters = [...cached.values()].reduce((sum, each) => sum + each.characters, 0);
  for (const [key, each] of cached) {
    if (cached.size <= MAX_CACHED && characters <= MAX_CACHED_CHARACTERS) return;
    cached.delete(key);
    characters -= each.characters;
  }
}

/** Links that lead nowhere, because the page belongs to no recipient. */
const NO_LINKS = { unsubscribeUrl: "#", subscribeUrl: "#", manageUrl: "#" };

async function render(app: App, project: Project, campaign: CampaignRow): Promise<Shown> {
  const { subject, html: body } = archivedSource(app, campaign);
  try {
    return await renderWith(app, { project, campaign, source: { subject, body } });
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 422) throw error;
    // A subject such as `{{ name }}` is empty without the data of a contact.
    const source = { subject: campaign.archiveSlug ?? "", body };
    return await renderWith(app, { project, campaign, source });
  }
}

async function renderWith(
  app: App,
  {
    project: { seq: projectSeq, ...project },
    campaign: { utm },
    source,
  }: { project: Project; campaign: CampaignRow; source: { subject: string; body: string } },
): Promise<Shown> {
  const { subject, html } = await renderPreview(app, projectSeq, {
    mails: {
      source,
      // They were checked when they were stored.
      given: { subject: false, body: false },
      isLenient: true,
      project,
      recipients: [{ id: "", email: "", data: "{}", links: NO_LINKS }],
    },
    emailId: newId(app.clock.now()),
    isMarketing: false,
    utm,
  });
  const shown = await showDocument(app, projectSeq, { html, images: [], isDark: false });
  return { subject, html: shown };
}
