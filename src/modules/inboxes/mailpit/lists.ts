/**
 * GET /api/v1/messages    list messages
 * GET /api/v1/search      list the messages that match a query
 */

import { parseDate } from "../search/dates.ts";
import type { SearchQuery } from "../search/syntax.ts";
import { badRequest } from "./answers.ts";
import type { MailpitContext, MailpitMessages, MailpitRoute } from "./context.ts";
import { mailpitSummary } from "./shapes.ts";

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1_000_000;
/** Messages that are shown before other work of the event loop has a turn. */
const STEP_ROWS = 200;

type Numbers = { total: number; unread: number };

export function mailpitListRoutes(messages: MailpitMessages): MailpitRoute[] {
  const { store } = messages;

  /** A page of messages. `found`: the numbers of all that the list has. */
  async function answerPage(
    { inbox }: MailpitContext,
    {
      seqs,
      start,
      counts,
      found,
    }: { seqs: number[]; start: number; counts: Numbers; found: Numbers },
  ): Promise<Response> {
    const tags = [...(await messages.tagCounts(inbox)).keys()];
    const { count, texts } = await showMessages(seqs);
    const numbers = { messages_count: found.total, messages_unread: found.unread };
    return listAnswer({ ...counts, count, ...numbers, start, tags }, texts);
  }

  /** The JSON of messages, in texts of several messages. One that was removed meanwhile is left out. */
  async function showMessages(seqs: number[]): Promise<{ count: number; texts: string[] }> {
    const texts: string[] = [];
    let count = 0;
    for (let at = 0; at < seqs.length; at += STEP_ROWS) {
      if (at > 0) await yieldToEventLoop();
      const step = seqs.slice(at, at + STEP_ROWS).flatMap((seq) => store.bySeq(seq) ?? []);
      count += step.length;
      if (step.length === 0) continue;
      texts.push(step.map((message) => JSON.stringify(mailpitSummary(message))).join());
    }
    return { count, texts };
  }

  async function list(context: MailpitContext): Promise<Response> {
    await messages.caughtUp();
    const { inbox, query } = context;
    const { start, limit } = pageOf(query);
    const before = beforeOf(query);
    if (before !== null) {
      const received = { isNegated: true, filter: { kind: "since" as const, at: before } };
      const all = await messages.counts(inbox);
      return searchPage(context, { terms: [received], hasDropped: false }, all);
    }
    const page = { start, limit: limit === 0 ? MAX_LIMIT : limit };
    const [counts, seqs] = await Promise.all([
      messages.counts(inbox),
      messages.seqsAt(inbox, page),
    ]);
    return answerPage(context, { seqs, start, counts, found: counts });
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

  /** `shown`: the numbers to show instead of those of the matches. */
  async function searchPage(
    context: MailpitContext,
    query: SearchQuery,
    shown: Numbers | null,
  ): Promise<Response> {
    const { inbox } = context;
    const { start, limit } = pageOf(context.query);
    const matches = await messages.find(inbox.seq, query);
    const seqs = matches.slice(start, start + limit).map(({ seq }) => seq);
    const found = {
      total: matches.length,
      unread: matches.filter(({ isRead }) => !isRead).length,
    };
    const counts = await messages.counts(inbox);
    return answerPage(context, { seqs, start, counts, found: shown ?? found });
  }

  return [
    ["GET", "/api/v1/messages", list],
    ["GET", "/api/v1/search", search],
  ];
}

/** Lets the event loop run other work first. */
const yieldToEventLoop = () => new Promise<void>((resolve) => void setImmediate(resolve));

/** An answer with the messages as its last member. One with many messages is sent piece by piece. */
function listAnswer(members: object, texts: readonly string[]): Response {
  const head = `${JSON.stringify(members).slice(0, -1)},"messages":[`;
  const pieces = [head, ...texts.map((text, i) => (i === 0 ? text : `,${text}`)), "]}"];
  const headers = { "Content-Type": "application/json;charset=utf-8", "Cache-Control": "no-store" };
  if (texts.length <= 1) return new Response(pieces.join(""), { headers });
  const encoder = new TextEncoder();
  let next = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await yieldToEventLoop();
      const piece = pieces[next++];
      if (piece === undefined) controller.close();
      else controller.enqueue(encoder.encode(piece));
    },
  });
  return new Response(body, { headers });
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
