/**
 * GET /o/{token}.gif         a pixel; counts an open
 * GET /c/{token}/{target}    counts a click and leads to the target, which the token covers
 *
 * Both answer without asking the database, and work as long as the installation has its secret.
 */

import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { badLinkPage, Html, pageResponse } from "../../http/page.ts";
import type { Clock } from "../../lib/clock.ts";
import { chooseTexts } from "../../mail/language.ts";
import { openRedirect, openToken } from "../../mail/links.ts";
import type { Collector } from "./collector.ts";
import { isMachine } from "./machines.ts";

const tags = ["Recipients"];
const hidden = { detail: { hide: true } };

export function trackingRoutes(deps: {
  collector: Collector;
  trackingKey: Uint8Array;
  clock: Clock;
}) {
  const { collector, trackingKey, clock } = deps;

  /** Always the pixel: a mail never shows a broken image. */
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
    visit: { kind: "open" | "click"; emailId: string; url: string | null },
  ): void {
    collector.add({ ...visit, at: clock.now(), isMachine: isMachine(request) });
  }

  return (
    new Elysia({ name: "tracking-routes" })
      .get("/o/:pixel", pixel, {
        response: {
          200: Type.Unsafe<Response>(Type.Any({ type: "string", contentMediaType: "image/gif" })),
        },
        detail: { tags, summary: "Pixel that tells that a mail was opened", security: [] },
      })
      .get("/c/:token/:target", redirect, {
        response: {
          302: Type.Unsafe<Response>(Type.Any()),
          404: Html,
        },
        detail: { tags, summary: "Link of a mail: counted, then redirected", security: [] },
      })
      // Links that were cut off or had something added.
      .get("/o/*", pixel, hidden)
      .get("/c/*", redirect, hidden)
  );
}

/** What follows `/o/` or `/c/`, each part as far as it can be one of ours. */
function segmentsOf(url: string): string[] {
  const path = /^[^/]+\/\/[^/]+\/[oc]\/([^?#]*)/.exec(url)?.[1] ?? "";
  return path.split("/").map((segment) => /^[\w-]*/.exec(segment)?.[0] ?? "");
}

const PIXEL = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

const NEVER_KEPT = {
  "Cache-Control": "no-store",
  "X-Robots-Tag": "noindex, nofollow",
};
const PIXEL_HEADERS = {
  ...NEVER_KEPT,
  "Content-Type": "image/gif",
  "X-Content-Type-Options": "nosniff",
};
/** The site that a link leads to learns nothing about the mail it stood in. */
const REDIRECT_HEADERS = { ...NEVER_KEPT, "Referrer-Policy": "no-referrer" };
