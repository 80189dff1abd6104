/**
 * GET /api/v1/messages    list messages
 * GET /api/v1/search      list the messages that match a query
 */

import { parseDate } from "../search/dates.ts";
import type { SearchQuery } from "../search/syntax.ts";
import { badRequest, jsonAnswer } from "./answers.ts";
import type { MailpitContext, MailpitMessages, MailpitRoute } from "./context.ts";
import { mailpitSummary } from "./shapes.ts";

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1_000_000;
/** Rows of a list without a limit that are read in one step. */
const STEP_ROWS = 500;

export function mailpitListRoutes(messages: MailpitMessages): MailpitRoute[] {
  const { store } = messages;

  /** The members of a list that are the same for all pages. */
  async function totals(
    inbox: MailpitContext["inbox"],
    start: number,
    found: { total: number; unread: number },
  ) {
    const { total, unread } = store.counts(inbox.seq);
    const counts = { messages_count: found.total, messages_unread: found.unread };
    const tags = [...(await messages.tagCounts(inbox)).keys()];
    return { total, unread, ...counts, start, tags };
  }

  async function list(context: MailpitContext): Promise<Response> {
    await messages.caughtUp();
    const { inbox, query } = context;
    const { start, limit } = pageOf(query);
    const before = beforeOf(query);
    const counts = store.counts(inbox.seq);
    if (before !== null) {
      const received = { isNegated: true, filter: { kind: "since" as const, at: before } };
      return searchPage(context, { terms: [received], hasDropped: false }, counts);
    }
    const summaries = await pageRows(inbox.seq, start, limit === 0 ? MAX_LIMIT : limit);
    const { total, unread, ...rest } = await totals(inbox, start, counts);
    return jsonAnswer({ total, unread, count: summaries.length, ...rest, messages: summaries });
  }

  /** Reads a page in steps, because a list without a limit has all messages. */
  async function pageRows(inboxSeq: number, start: number, limit: number) {
    const summaries = store.pageAt(inboxSeq, start, Math.min(limit, STEP_ROWS));
    let last = summaries.at(-1);
    while (last !== undefined && summaries.length < limit && summaries.length % STEP_ROWS === 0) {
      await new Promise<void>((resolve) => void setImmediate(resolve));
      const next = store.page(inboxSeq, last.seq, Math.min(limit - summaries.length, STEP_ROWS));
      if (next.length === 0) break;
      summaries.push(...next);
      last = summaries.at(-1);
    }
    return summaries.map(mailpitSummary);
  }

  async function search(context: MailpitContext): Promise<Response> {
    await messages.caughtUp();
    const query = messages.queryOf(context, context.query.get("query"));
    if (query === null) throw badRequest("Error: no search query");
    const before = beforeOf(context.query);
    if (before === null) return searchPage(context, query, null);
    const received = { isNegated: true, filter: { kind: "since" as const, at: before } };
    return searchPage(context, { ...query, terms: [...query.terms, received] }, null);
  }

  /** `counts`: shown as the number of matches instead of those of the query. */
  async function searchPage(
    { inbox, query: parameters }: MailpitContext,
    query: SearchQuery,
    counts: { total: number; unread: number } | null,
  ): Promise<Response> {
    const { start, limit } = pageOf(parameters);
    const matches = await messages.find(inbox.seq, query);
    const page = matches.slice(start, start + limit).flatMap(({ seq }) => store.bySeq(seq) ?? []);
    const found = {
      total: matches.length,
      unread: matches.filter(({ isRead }) => !isRead).length,
    };
    const { total, unread, ...rest } = await totals(inbox, start, counts ?? found);
    const summaries = page.map(mailpitSummary);
    return jsonAnswer({ total, unread, count: summaries.length, ...rest, messages: summaries });
  }

  return [
    ["GET", "/api/v1/messages", list],
    ["GET", "/api/v1/search", search],
  ];
}

/** Invalid values count as absent. */
function pageOf(query: URLSearchParams): { start: number; limit: number } {
  const start = query.get("start") ?? "";
  const limit = query.get("limit") ?? "";
  return {
    start: /^\d{1,9}$/.test(start) ? Number(start) : 0,
    limit: /^\d{1,9}$/.test(limit) ? Number(limit) : DEFAULT_LIMIT,
  };
}

function beforeOf(query: URLSearchParams): number | null {
  return parseDate(query.get("before") ?? "", query.get("tz") ?? "");
}
