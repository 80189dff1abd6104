/**
 * Open and click tracking.
 *
 * GET /o/{token}.gif         counts an open and returns a pixel
 * GET /c/{token}/{target}    counts a click and redirects to the target, which the token signs
 *
 * 1. The token is verified without the database, so links work as long as the secret is the same.
 * 2. `machines.ts` recognises requests that no person made.
 * 3. `collector.ts` queues the hit and writes the queue in batches.
 * 4. `service.ts` records the hit in the mail's row and the event log.
 */

import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { undocumented } from "../../http/documented.ts";
import { ErrorBody } from "../../http/envelope.ts";
import { badLinkPage, Html, pageResponse } from "../../http/page.ts";
import type { Clock } from "../../lib/clock.ts";
import { chooseTexts } from "../../render/language.ts";
import { openRedirect, openToken } from "../../render/links.ts";
import type { Collector } from "./collector.ts";
import { isMachine } from "./machines.ts";
import { trackingOperations } from "./operations.ts";

const hidden = { detail: undocumented("ANYONE") };

export function trackingRoutes(deps: {
  collector: Collector;
  trackingKey: Uint8Array;
  clock: Clock;
}) {
  const { collector, trackingKey, clock } = deps;

  /** Returns the pixel even for a bad token, so that a mail never shows a broken image. */
  function pixel({ request }: { request: Request }): Response {
    const [token = ""] = segmentsOf(request.url);
    const emailId = openToken(trackingKey, token);
    if (emailId !== null) collect(request, { kind: "open", emailId, url: null });
    return new Response(PIXEL, { headers: PIXEL_HEADERS });
  }

  function redirect({ request }: { request: Request }): Response {
    const [token = "", encoded = ""] = segmentsOf(request.url);
    const link = openRedirect(trackingKey, token, encoded);
    if (link === null || !/^https?:/.test(link.target)) {
      const texts = chooseTexts(null, request.headers.get("accept-language"));
      return pageResponse(badLinkPage(texts), 404);
    }
    collect(request, { kind: "click", emailId: link.emailId, url: link.target });
    return new Response(null, {
      status: 302,
      headers: { Location: link.target, ...REDIRECT_HEADERS },
    });
  }

  function collect(
    request: Request,
    hit: { kind: "open" | "click"; emailId: string; url: string | null },
  ): void {
    collector.add({ ...hit, at: clock.now(), isMachine: isMachine(request) });
  }

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
        detail: trackingOperations.getTrackingPixel,
      })
      .get("/c/:token/:target", redirect, {
        response: {
          302: Type.Unsafe<Response>(Type.Any()),
          404: Html,
        },
        detail: trackingOperations.followTrackedLink,
      })
      // Broken links, cut off or with text added.
      .get("/o/*", pixel, hidden)
      .get("/c/*", redirect, hidden)
  );
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
