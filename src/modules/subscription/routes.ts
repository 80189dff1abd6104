/**
 * GET  /unsubscribe/{token}    shows a page with a button; changes nothing
 * POST /unsubscribe/{token}    the form of that page, or a one-click request (RFC 8058)
 * GET  /subscribe/{token}      shows a page with a button; changes nothing
 * POST /subscribe/{token}      the form of that page
 * GET  /manage/{token}         shows the state of the subscription and a button to change it
 * POST /manage/{token}         the form of that page
 *
 * The token in the URL is the only authentication: no key and no cookie is needed. Every answer is
 * an HTML page.
 */

import { Elysia } from "elysia";
import type { Writer } from "../../db/writer.ts";
import type { Arrivals } from "../../http/body-arrivals.ts";
import { undocumented } from "../../http/documented.ts";
import { readForm } from "../../http/form.ts";
import { badLinkPage, Html, type Page, pageResponse, errorPage } from "../../http/page.ts";
import { AppError } from "../../lib/errors.ts";
import { describeError, type Log } from "../../lib/log.ts";
import { chooseTexts } from "../../render/language.ts";
import { openToken } from "../../render/links.ts";
import type { Decision, Recipient, Subscriptions } from "./service.ts";
import { PAGE_FORM, pageOperations } from "./operations.ts";
import { ACTION, type PageName, buildPage } from "./view.ts";

const PAGES = { 200: Html, 404: Html, 500: Html };
const PAGES_OF_FORM = { ...PAGES, 400: Html, 409: Html, 413: Html, 503: Html };

type Detail = (typeof pageOperations)[keyof typeof pageOperations];
const documented = (detail: Detail) => ({ response: PAGES, detail });
const documentedPost = (detail: Detail) => ({
  response: PAGES_OF_FORM,
  parse: "none" as const,
  detail: { ...detail, requestBody: PAGE_FORM },
});
const hidden = { detail: undocumented("ANYONE") };
const hiddenPost = { ...hidden, parse: "none" as const };

export function subscriptionRoutes(deps: {
  subscriptions: Subscriptions;
  linkKey: Uint8Array;
  writer: Writer;
  arrivals: Arrivals;
  log: Log;
}) {
  const { subscriptions, linkKey, writer, arrivals, log } = deps;

  /** Answers errors with a page that does not describe them; the log gets the description. */
  function withErrorPage(
    name: PageName,
    answer: (name: PageName, request: Request) => Response | Promise<Response>,
  ) {
    return async ({ request }: { request: Request }): Promise<Response> => {
      try {
        return await answer(name, request);
      } catch (error) {
        const status = error instanceof AppError ? error.status : 500;
        log.error("a subscription page failed", {
          page: name,
          status,
          error: describeError(error),
        });
        return respond(request, null, (texts) => errorPage(texts), status);
      }
    };
  }

  function show(name: PageName, request: Request): Response {
    const recipient = recipientOf(request);
    if (recipient === null) return respond(request, null, badLinkPage, 404);
    return respond(request, recipient, (texts) =>
      buildPage(texts, name, { recipient, hasActed: false }),
    );
  }

  async function act(name: PageName, request: Request): Promise<Response> {
    const emailId = emailIdIn(request);
    const recipient = emailId === null ? null : subscriptions.find(emailId);
    if (emailId === null || recipient === null) return respond(request, null, badLinkPage, 404);
    const form = await readForm(request, arrivals);
    if (form.isTooLarge) return respond(request, recipient, errorPage, 413);
    const decision = decisionIn(form, name);
    if (decision === null) {
      const view = { recipient, hasActed: false };
      return respond(request, recipient, (texts) => buildPage(texts, name, view), 400);
    }
    const updated = (await writer.write(subscriptions.decide(emailId, decision))) ?? recipient;
    const view = { recipient: updated, hasActed: true };
    return respond(request, updated, (texts) => buildPage(texts, name, view));
  }

  function recipientOf(request: Request): Recipient | null {
    const emailId = emailIdIn(request);
    return emailId === null ? null : subscriptions.find(emailId);
  }

  function emailIdIn(request: Request): string | null {
    return openToken(linkKey, tokenIn(request.url));
  }

  const onGet = (name: PageName) => withErrorPage(name, show);
  const onPost = (name: PageName) => withErrorPage(name, act);

  return (
    new Elysia({ name: "subscription-routes" })
      .get(
        "/unsubscribe/:token",
        onGet("unsubscribe"),
        documented(pageOperations.showUnsubscribePage),
      )
      .post(
        "/unsubscribe/:token",
        onPost("unsubscribe"),
        documentedPost(pageOperations.unsubscribe),
      )
      .get("/subscribe/:token", onGet("subscribe"), documented(pageOperations.showSubscribePage))
      .post("/subscribe/:token", onPost("subscribe"), documentedPost(pageOperations.subscribe))
      .get("/manage/:token", onGet("manage"), documented(pageOperations.showSubscription))
      .post("/manage/:token", onPost("manage"), documentedPost(pageOperations.changeSubscription))
      // Broken links, cut off or with text added, get an HTML page instead of a JSON error.
      .get("/unsubscribe/*", onGet("unsubscribe"), hidden)
      .post("/unsubscribe/*", onPost("unsubscribe"), hiddenPost)
      .get("/subscribe/*", onGet("subscribe"), hidden)
      .post("/subscribe/*", onPost("subscribe"), hiddenPost)
      .get("/manage/*", onGet("manage"), hidden)
      .post("/manage/*", onPost("manage"), hiddenPost)
  );
}

/** Uses the language of the project; without a recipient, that of the browser. */
function respond(
  request: Request,
  recipient: Recipient | null,
  view: (texts: ReturnType<typeof chooseTexts>) => Page,
  status = 200,
): Response {
  const accepted = request.headers.get("accept-language");
  return pageResponse(view(chooseTexts(recipient?.language ?? null, accepted)), status);
}

/**
 * Returns the token after the page's name, without a full stop or bracket that a mail program
 * included in the link.
 */
function tokenIn(url: string): string {
  return /^[^/]+\/\/[^/]+\/[a-z]+\/([\w-]*)/.exec(url)?.[1] ?? "";
}

/**
 * Returns the decision that a form holds; null if it holds none. A request without a body is one of a
 * mail program, because the buttons of the page have a value.
 */
function decisionIn(
  { fields, isEmpty }: { fields: ReadonlyMap<string, string>; isEmpty: boolean },
  name: PageName,
): Decision | null {
  const action = fields.get(ACTION);
  if (action === "subscribe" || action === "unsubscribe") {
    return { isSubscribed: action === "subscribe", via: "page" };
  }
  const isOneClick = isEmpty || fields.get("List-Unsubscribe") === "One-Click";
  return isOneClick && name === "unsubscribe" ? { isSubscribed: false, via: "one-click" } : null;
}
