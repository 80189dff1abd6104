/**
 * PUT    /api/v1/messages      set the read state of messages
 * DELETE /api/v1/messages      delete messages by id; all of them without ids
 * DELETE /api/v1/search        delete the messages that match a query
 * GET    /api/v1/tags          list the tags of all messages
 * PUT    /api/v1/tags          set the tags of messages
 * PUT    /api/v1/tags/{tag}    rename a tag
 * DELETE /api/v1/tags/{tag}    remove a tag from all messages
 */

import { type Static, Type } from "@sinclair/typebox";
import { tagsFrom } from "../messages/tags.ts";
import { foldText } from "../search/fold.ts";
import type { SearchQuery } from "../search/syntax.ts";
import { badRequest, jsonAnswer, type MailpitRefusal, okAnswer } from "./answers.ts";
import { readLowerJson, validated } from "./body.ts";
import type { MailpitContext, MailpitMessages, MailpitRoute } from "./context.ts";
import type { MailpitEdits } from "./edits.ts";

const Strings = Type.Union([Type.Array(Type.String()), Type.Null()]);
const Ids = Type.Object({ ids: Type.Optional(Strings) });
const ReadState = Type.Object({
  ids: Type.Optional(Strings),
  search: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  read: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
});
const SetTags = Type.Object({ ids: Type.Optional(Strings), tags: Type.Optional(Strings) });
const BOTH_GIVEN = "You may specify either IDs or a search query, not both";
const Rename = Type.Object({ name: Type.String() });

export function mailpitChangeRoutes(
  messages: MailpitMessages,
  edits: MailpitEdits,
): MailpitRoute[] {
  const { store } = messages;

  function seqsOf(inboxSeq: number, ids: readonly string[]): number[] {
    return [...new Set(ids)].flatMap((id) => store.byId(inboxSeq, id)?.seq ?? []);
  }

  async function allSeqs(inboxSeq: number, query: SearchQuery | null): Promise<number[]> {
    return (await messages.matches(inboxSeq, query)).map(({ seq }) => seq);
  }

  async function setRead(context: MailpitContext): Promise<Response> {
    const body = readStateIn(context.request, await messages.bodyOf(context));
    await messages.caughtUp();
    const { seq } = context.inbox;
    const ids = body.ids ?? [];
    const text = body.search ?? "";
    if (ids.length > 0 && text !== "") throw badRequest(BOTH_GIVEN);
    const query = messages.queryOf(context, text);
    if (query?.hasDropped === true) throw incompleteQuery();
    const seqs = ids.length > 0 ? seqsOf(seq, ids) : await allSeqs(seq, query);
    await edits.setRead(seq, seqs, body.read ?? false);
    return okAnswer();
  }

  async function remove(context: MailpitContext): Promise<Response> {
    const body = await messages.bodyOf(context);
    const ids = idsOf(context.request, body);
    await messages.caughtUp();
    const { seq } = context.inbox;
    if (ids.length > 0) await edits.remove(seq, seqsOf(seq, ids));
    else await edits.clear(seq, await allSeqs(seq, null));
    return body === "" && isMailhogClient(context.request) ? new Response(null) : okAnswer();
  }

  async function removeFound(context: MailpitContext): Promise<Response> {
    const query = messages.queryOf(context, context.query.get("query"));
    if (query === null || query.terms.length === 0) throw badRequest("Error: no search query");
    if (query.hasDropped) throw incompleteQuery();
    await messages.caughtUp();
    const { seq } = context.inbox;
    await edits.remove(seq, await allSeqs(seq, query));
    return okAnswer();
  }

  async function setTags(context: MailpitContext): Promise<Response> {
    const body = validated(SetTags, (await messages.jsonOf(context)) ?? {});
    const tags = tagsFrom(body.tags ?? []);
    await messages.caughtUp();
    const { seq } = context.inbox;
    await edits.setTags(seq, seqsOf(seq, body.ids ?? []), () => tags);
    return okAnswer();
  }

  /** Replaces a tag by the given ones in all messages that have it. */
  async function replaceTag(context: MailpitContext, by: readonly string[]): Promise<Response> {
    await messages.caughtUp();
    const { inbox } = context;
    const { seq } = inbox;
    const { tag: name = "" } = context.params;
    const value = foldText(name);
    const isTag = (tag: string) => foldText(tag) === value;
    const known = [...(await messages.tagCounts(inbox)).keys()];
    if (!known.some(isTag)) throw badRequest(`tag not found: ${name.slice(0, 100)}`);
    const terms = [{ isNegated: false, filter: { kind: "tag" as const, value } }];
    const seqs = await allSeqs(seq, { terms, hasDropped: false });
    await edits.setTags(seq, seqs, (tags) =>
      tagsFrom([...tags.filter((tag) => !isTag(tag)), ...by]),
    );
    return okAnswer();
  }

  return [
    [
      "GET",
      "/api/v1/tags",
      async ({ inbox }) => {
        await messages.caughtUp();
        return jsonAnswer([...(await messages.tagCounts(inbox)).keys()]);
      },
    ],
    ["PUT", "/api/v1/messages", setRead],
    ["DELETE", "/api/v1/messages", remove],
    ["DELETE", "/api/v1/search", removeFound],
    ["PUT", "/api/v1/tags", setTags],
    [
      "PUT",
      "/api/v1/tags/:tag",
      async (context) => {
        const { name } = validated(Rename, await messages.jsonOf(context));
        const tags = tagsFrom([name]);
        if (tags.length === 0) throw badRequest(`invalid tag name: ${name.slice(0, 100)}`);
        return replaceTag(context, tags);
      },
    ],
    ["DELETE", "/api/v1/tags/:tag", (context) => replaceTag(context, [])],
  ];
}

/**
 * MailHog answers this request with an empty body, and the package `mailhog` for Node.js reads any
 * other body as JSON. It sends neither of these fields; clients of Mailpit send at least one.
 */
function isMailhogClient({ headers }: Request): boolean {
  return !headers.has("accept") && !headers.has("user-agent");
}

/**
 * The ids of a delete request. An empty body means all messages, as clients expect. Any other body
 * without ids that is not JSON is refused.
 */
function idsOf(request: Request, body: string): readonly string[] {
  if (body.trim() === "") return [];
  const form = formIn(request, body);
  if (form !== null) {
    const ids = form.getAll("ids");
    if (ids.length === 0) throw badRequest("the form names no ids");
    return ids;
  }
  const value = readLowerJson(body);
  return value === null ? [] : (validated(Ids, value).ids ?? []);
}

function readStateIn(request: Request, body: string): Static<typeof ReadState> {
  if (body.trim() === "") return {};
  const form = formIn(request, body);
  if (form === null) return validated(ReadState, readLowerJson(body));
  const ids = form.getAll("ids");
  const search = form.get("search");
  if (ids.length === 0 && search === null) throw badRequest("the form names no ids");
  return { ids, search, read: /^(?:true|1)$/i.test(form.get("read") ?? "") };
}

/** A form, with names in lower case, because a client for Python sends one; null for JSON. */
function formIn(request: Request, body: string): URLSearchParams | null {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/x-www-form-urlencoded\b/i.test(type) || /^\s*[[{]/.test(body)) return null;
  const fields = [...new URLSearchParams(body)];
  return new URLSearchParams(
    fields.map(([name, value]): [string, string] => [name.toLowerCase(), value]),
  );
}

function incompleteQuery(): MailpitRefusal {
  return badRequest("Error: the search has a filter without a value, so it could match too much");
}
