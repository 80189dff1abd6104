/**
 * Open and click tracking.
 *
 * GET /o/{token}.gif         counts an open and returns a pixel
 * GET /c/{token}/{target}    counts a click and redirects to the target, which the token signs
 *
 * 1. The token is verified without the database, so links work as long as the secret is the same.
 * 2. `machines.ts` recognises requests that no person made.
 * 3. `collector.ts` queues the hit and writes the queue in batches.
 * 4. `countHit` records the hit in the mail's row and the event log.
 *
 * A reader of a mail can follow its links for ever, so its later clicks are recorded only while the
 * project has room for the events of strangers.
 */

import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { App } from "../../core/app.ts";
import { openSigned, openSignedId } from "../../core/signed-ids.ts";
import { type EventInput, eventLog } from "../../events/log.ts";
import { describeOperations, undocumented } from "../../http/documented.ts";
import { ErrorBody } from "../../http/envelope.ts";
import { badLinkPage, Html, pageResponse } from "../../http/page.ts";
import { statement } from "../../db/statement.ts";
import { ExpiringMap } from "../../lib/expiring-map.ts";
import { perApp } from "../../lib/per-app.ts";
import {
  findTrackedEmail,
  storeFirstHit,
  storeMachineHit,
  type TrackedEmail,
} from "../../outbox/engagement.ts";
import { TRANSITIONS } from "../../outbox/states.ts";
import { chooseTexts } from "../../render/language.ts";
import { baseAtHost, openRedirect, openToken } from "../../render/links.ts";
import type { Noun } from "../module.ts";
import { isTrackingHost } from "../delivery/tracking-hosts.ts";
import { isWithinPublicStorage } from "../quotas.ts";
import { createCollector, type Hit } from "./collector.ts";
import { FASTEST_PERSON_MS, isMachine } from "./machines.ts";

const DETAILS = describeOperations(
  { tag: "Recipients" },
  {
    getTrackingPixel: {
      role: "ANYONE",
      summary: "Tracking pixel: counts an open",
      description: "Answers with an image even if the token is not valid.",
      parameters: { pixel: "A signed token and `.gif`" },
      security: [],
    },
    followTrackedLink: {
      role: "ANYONE",
      summary: "Tracked link: counts a click and redirects to its target",
      description: "The token signs the target, so that the link leads nowhere else.",
      headers: ["Location"],
      parameters: { token: "The signed token of the link", target: "The target in base64url" },
      security: [],
    },
  },
);

export const trackingNoun: Noun = {
  name: "tracking",
  routes: (app) => [trackingRoutes(app)],
  flush: flushHits,
};

function trackingRoutes(app: App) {
  const pixel = ({ request }: { request: Request }) => answerWithPixel(app, request);
  const redirect = ({ request }: { request: Request }) => redirectToTarget(app, request);
  const hidden = { detail: undocumented("ANYONE") };
  return (
    new Elysia({ name: "tracking-routes" })
      .get("/o/:pixel", pixel, {
        response: {
          200: Type.Unsafe<Response>(
            Type.Any({
              type: "string",
              contentMediaType: "image/gif",
              description: "A transparent image of one pixel",
              examples: ["GIF89a…"],
            }),
          ),
          400: ErrorBody,
        },
        detail: DETAILS.getTrackingPixel,
      })
      .get("/c/:token/:target", redirect, {
        response: {
          302: Type.Unsafe<Response>(Type.Any()),
          404: Html,
        },
        detail: DETAILS.followTrackedLink,
      })
      // Broken links, cut off or with text added.
      .get("/o/*", pixel, hidden)
      .get("/c/*", redirect, hidden)
  );
}

/** Answers with the pixel even for a bad token, so that a mail never shows a broken image. */
function answerWithPixel(app: App, request: Request): Response {
  const [token = ""] = segmentsOf(request.url);
  const emailId = openSignedId(app, ({ trackingKey }) => openToken(trackingKey, token));
  if (emailId !== null) collect(app, request, { kind: "open", emailId, url: null });
  return new Response(PIXEL, { headers: PIXEL_HEADERS });
}

function redirectToTarget(app: App, request: Request): Response {
  const [token = "", encoded = ""] = segmentsOf(request.url);
  const link = openSigned(app, ({ trackingKey }) => openRedirect(trackingKey, token, encoded));
  if (link === null || !/^https?:/.test(link.target)) {
    const texts = chooseTexts(null, request.headers.get("accept-language"));
    return pageResponse(badLinkPage(texts), 404);
  }
  collect(app, request, { kind: "click", emailId: link.emailId, url: link.target });
  return new Response(null, {
    status: 302,
    headers: { Location: link.target, ...REDIRECT_HEADERS },
  });
}

/** Returns the path segments after `/o/` or `/c/`, each up to its first invalid character. */
function segmentsOf(url: string): string[] {
  const path = /^[^/]+\/\/[^/]+\/[oc]\/([^?#]*)/.exec(url)?.[1] ?? "";
  return path.split("/").map((segment) => /^[\w-]*/.exec(segment)?.[0] ?? "");
}

const PIXEL = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

const NOT_CACHED = {
  "Cache-Control": "no-store",
  "X-Robots-Tag": "noindex, nofollow",
};
const PIXEL_HEADERS = {
  ...NOT_CACHED,
  "Content-Type": "image/gif",
  "X-Content-Type-Options": "nosniff",
};
/** The target site does not learn the URL of the tracked link. */
const REDIRECT_HEADERS = { ...NOT_CACHED, "Referrer-Policy": "no-referrer" };

const collector = perApp((app: App) =>
  createCollector({ ...app, count: (hit) => countHit(app, hit) }),
);

function collect(app: App, request: Request, hit: Pick<Hit, "kind" | "emailId" | "url">): void {
  collector(app).add({ ...hit, at: app.clock.now(), isMachine: isMachine(request) });
}

/** Writes the opens and clicks that are only in memory to the event log. */
export function flushHits(app: App): Promise<void> {
  return collector(app).flush();
}

/** Called for the first open and the first click of a mail by a machine, inside the change. */
type MachineHitHandler = (emailSeq: number, kind: Hit["kind"]) => void;

const machineHitHandlers = perApp((): MachineHitHandler[] => []);

export function onMachineHit(app: App, handler: MachineHitHandler): void {
  machineHitHandlers(app).push(handler);
}

/** Part of a change: records the first open and click of a mail, its status and its events. */
function countHit(app: App, hit: Hit): void {
  const email = findTrackedEmail(app).get(hit.emailId);
  if (email === null || isNotTracked(email)) return;
  if (hit.isMachine || isTooFast(hit, email)) {
    countMachineHit(app, hit, email.seq);
    return;
  }
  recordOpen(app, hit, email);
  if (hit.kind === "open" || isRepeated(app, hit)) return;
  recordClick(app, hit, email);
}

/** A click implies an open, even if the mail program does not load the pixel. */
function recordOpen(app: App, hit: Hit, email: TrackedEmail): boolean {
  if (email.openedAt !== null) return false;
  storeFirstHit(app, "open", email.seq, hit.at);
  eventLog(app).record(eventOf(TRANSITIONS.open.event, hit, email));
  return true;
}

function recordClick(app: App, hit: Hit, email: TrackedEmail): boolean {
  const isFirstOfMail = email.clickedAt === null;
  if (!isFirstOfMail && !isWithinPublicStorage(app, email.projectSeq)) return false;
  if (isFirstOfMail) storeFirstHit(app, "click", email.seq, hit.at);
  eventLog(app).record({ ...eventOf(TRANSITIONS.click.event, hit, email), isFirstOfMail });
  return true;
}

const findClick = statement<{ seq: number }, [number, string]>(`
  SELECT seq FROM events
  WHERE email_seq = +? AND name = 'email.clicked' AND json_extract(data, '$.url') = +? LIMIT 1`);

/**
 * Part of a change: an open or a click that the relay has tracked. `happenedAt` is its time there.
 * Providers repeat their reports for hours, so a click counts once for each link of a mail. Returns
 * false if it counts nothing.
 */
export function countReportedHit(app: App, hit: Hit, happenedAt: number): boolean {
  const email = findTrackedEmail(app).get(hit.emailId);
  if (email === null || isNotTracked(email)) return false;
  // Our redirect counts these clicks itself; the pages of a recipient are no links of the mail.
  if (hit.url !== null && isOwnLink(app, hit.url)) return false;
  if (hit.isMachine || isTooFast({ ...hit, at: happenedAt }, email)) {
    return countMachineHit(app, hit, email.seq);
  }
  const isOpen = recordOpen(app, hit, email);
  if (hit.url === null || findClick(app).get(email.seq, hit.url) !== null) return isOpen;
  return recordClick(app, hit, email) || isOpen;
}

function isOwnLink(app: App, url: string): boolean {
  if ([app.trackingUrl, app.url].some((base) => url.startsWith(`${base}/`))) return true;
  const host = URL.parse(url)?.hostname ?? "";
  return url.startsWith(`${baseAtHost(app.trackingUrl, host)}/c/`) && isTrackingHost(app, host);
}

function countMachineHit(app: App, { kind, at }: Hit, emailSeq: number): boolean {
  if (!storeMachineHit(app, kind, emailSeq, at)) return false;
  for (const handle of machineHitHandlers(app)) handle(emailSeq, kind);
  return true;
}

/** Clicks on the same link of the same mail within this time count once: double clicks, reloads. */
const REPEATED_CLICK_MS = 10_000;
const MAX_RECENT_CLICKS = 20_000;

/** The first click on each link within `REPEATED_CLICK_MS`. */
const recentClicks = perApp(
  ({ clock }: App) => new ExpiringMap<Hit>({ maxEntries: MAX_RECENT_CLICKS, clock }),
);

/**
 * True if the link was clicked a moment ago. The writer may run a change twice, so the hit itself
 * does not count as its own repetition.
 */
function isRepeated(app: App, hit: Hit): boolean {
  const link = `${hit.emailId} ${hit.url}`;
  const first = recentClicks(app).get(link);
  if (first === undefined) recentClicks(app).set(link, hit, REPEATED_CLICK_MS);
  return first !== undefined && first !== hit;
}

/**
 * True if the hit is ignored: its contact was deleted, the mail is a test mail, or the project
 * switched tracking off after the mail was sent, or its contact did.
 */
function isNotTracked({ contactSeq, source, tracking, allowsTracking }: TrackedEmail): boolean {
  if (contactSeq === null || source === "TEST" || tracking === "DISABLED") return true;
  return allowsTracking === 0 || (tracking === "CONSENT" && allowsTracking !== 1);
}

/** A hit before or shortly after sending comes from a scanner on the way to the recipient. */
function isTooFast({ kind, at }: Hit, { sentAt }: TrackedEmail): boolean {
  return sentAt === null || at - sentAt < FASTEST_PERSON_MS[kind];
}

function eventOf(
  name: string,
  { url, at }: Hit,
  { seq, projectSeq, contactSeq }: TrackedEmail,
): EventInput {
  const data = url === null || name !== "email.clicked" ? {} : { data: { url } };
  return { projectSeq, name, contactSeq, emailSeq: seq, ...data, at };
}
