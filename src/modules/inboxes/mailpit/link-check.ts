/**
 * GET /api/v1/message/{id}/link-check?follow=true    requests all links of a message
 *
 * The requests go through the guarded client, which refuses private addresses (451). A failed
 * request has the status 0.
 */

import PQueue from "p-queue";
import type { FetchGuarded } from "../../../protocols/fetch-guarded/fetch-guarded.ts";
import { FetchRefused } from "../../../protocols/fetch-guarded/refusal.ts";
import { jsonAnswer } from "./answers.ts";
import type { MailpitContext, MailpitMessages, MailpitRoute } from "./context.ts";

/** Links of one message that are requested. */
const MAX_LINKS = 100;
/** Requests at the same time, of all messages together. */
const CONCURRENCY = 5;
const MAX_HTML_CHARACTERS = 512 * 1024;
const LINK_IN_TEXT = /https?:\/\/[^\s<>"')\]]{3,2000}/gi;

type Link = { URL: string; StatusCode: number; Status: string };

export function mailpitLinkCheckRoute(deps: {
  messages: MailpitMessages;
  fetchGuarded: FetchGuarded;
  /** A guarded client that returns redirects. */
  fetchOnce: FetchGuarded;
}): MailpitRoute {
  const { messages, fetchGuarded, fetchOnce } = deps;
  const queue = new PQueue({ concurrency: CONCURRENCY });

  async function check(url: string, fetch: FetchGuarded): Promise<Link> {
    try {
      const first = await fetch(url, { method: "HEAD" });
      // Some servers answer only GET.
      const needsGet = first.status === 405 || first.status === 404 || first.status === 403;
      const { status } = needsGet ? await fetch(url, { method: "GET" }) : first;
      return { URL: url, StatusCode: status, Status: statusText(status) };
    } catch (error) {
      if (!(error instanceof FetchRefused)) throw error;
      const isPrivate = error.reason === "private_address";
      return isPrivate
        ? { URL: url, StatusCode: 451, Status: "Blocked private/reserved address" }
        : { URL: url, StatusCode: 0, Status: error.message };
    }
  }

  return [
    "GET",
    "/api/v1/message/:id/link-check",
    async (context: MailpitContext) => {
      const { html, text } = await messages.detailOf(
        await messages.messageOf(context),
        context.inbox,
      );
      const fetch = context.query.get("follow") === "true" ? fetchGuarded : fetchOnce;
      const urls = linksOf(html, text).slice(0, MAX_LINKS);
      const Links = await Promise.all(urls.map((url) => queue.add(() => check(url, fetch))));
      const isError = ({ StatusCode }: Link) => StatusCode === 0 || StatusCode >= 400;
      return jsonAnswer({ Errors: Links.filter(isError).length, Links });
    },
  ];
}

/** Links, images and style sheets of the HTML, and URLs in the text, each once. */
function linksOf(html: string, text: string): string[] {
  const found = new Set<string>();
  const add = (url: string | null): void => {
    const trimmed = (url ?? "").trim();
    if (/^https?:\/\//i.test(trimmed)) found.add(trimmed);
  };
  new HTMLRewriter()
    .on("a[href], area[href], link[href]", {
      element: (element) => add(decoded(element.getAttribute("href"))),
    })
    .on("img[src]", { element: (element) => add(decoded(element.getAttribute("src"))) })
    .transform(html.slice(0, MAX_HTML_CHARACTERS));
  if (html === "") {
    for (const [url] of text.slice(0, MAX_HTML_CHARACTERS).matchAll(LINK_IN_TEXT)) {
      add(url.replace(/[.,;:!?]{1,5}$/, ""));
    }
  }
  return [...found];
}

const decoded = (value: string | null): string | null => value?.replaceAll("&amp;", "&") ?? null;

function statusText(status: number): string {
  return STATUS_TEXTS[status] ?? (status < 400 ? "OK" : "Error");
}

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  200: "OK",
  204: "No Content",
  301: "Moved Permanently",
  302: "Found",
  303: "See Other",
  307: "Temporary Redirect",
  308: "Permanent Redirect",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  410: "Gone",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
};
