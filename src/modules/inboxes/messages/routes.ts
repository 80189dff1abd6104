/**
 * GET    /inboxes/{id}/messages
 * DELETE /inboxes/{id}/messages
 * GET    /inboxes/{id}/messages/{messageId}
 * PATCH  /inboxes/{id}/messages/{messageId}
 * DELETE /inboxes/{id}/messages/{messageId}
 *
 * content/routes.ts has the routes of their contents. `latest` stands for the newest message.
 */

import { Elysia, status } from "elysia";
import { BODY_LIMITS, limited } from "../../../http/body-limits.ts";
import {
  Envelope,
  envelope,
  IdParams,
  ListEnvelope,
  NoContent,
  withErrors,
} from "../../../http/envelope.ts";
import { bySeq, type PageRequest, seqBound } from "../../../http/pagination.ts";
import { ensureChecks } from "../../../http/validation.ts";
import {
  Deleted,
  Message,
  MessageDetail,
  MessageParams,
  MessagePatch,
  MessageQuery,
  Selection,
} from "../model.ts";
import { presentDetail, presentMessage } from "../present.ts";
import { inboxOperations } from "../operations.ts";
import type { App } from "../../../core/app.ts";
import { admissionOf } from "../../admission.ts";
import { listPage as listPageOf } from "../../../http/pagination.ts";
import { messageEdits } from "./edits.ts";
import { messageMatching } from "../matching.ts";
import { inboxReading } from "../reading.ts";
import { messageStore } from "./store.ts";

export function messageRoutes(app: App) {
  const admission = admissionOf(app);
  const listPage = listPageOf(app);
  const edits = messageEdits(app);
  const matching = messageMatching(app);
  const reading = inboxReading(app);
  const store = messageStore(app);

  return new Elysia({ name: "inbox-message-routes", prefix: "/inboxes/:id/messages" })
    .use(admission.inboxKey)
    .get(
      "",
      async ({ project, params, query }) => {
        const inbox = await reading.inbox(project.seq, params.id);
        const { seq } = inbox;
        const search = query.query ?? "";
        matching.check(search);
        const list = { scope: `inbox ${seq} ${search}`, query };
        const read = async (request: PageRequest) => {
          const { after, limit } = request;
          const rows = await matching.find(seq, search, { before: seqBound(request), limit });
          const areAll = after === null && rows.length < limit;
          const total = areAll ? rows.length : await matching.count(inbox, search);
          return { rows, total, positionOf: bySeq };
        };
        return envelope(await listPage(list, read, (rows) => rows.map(presentMessage)));
      },
      {
        params: IdParams,
        query: MessageQuery,
        response: withErrors({ 200: ListEnvelope(Message) }),
        detail: inboxOperations.listInboxMessages,
      },
    )
    .delete(
      "",
      async ({ project, params, body }) => {
        ensureChecks(Selection, body);
        const { seq } = await reading.inbox(project.seq, params.id);
        if (body.query !== undefined) matching.check(body.query);
        return envelope({ deleted: await edits.removeSelected(seq, body) });
      },
      {
        params: IdParams,
        body: limited(Selection, BODY_LIMITS.settings),
        response: withErrors({ 200: Envelope(Deleted) }),
        detail: inboxOperations.deleteInboxMessages,
      },
    )
    .get(
      "/:messageId",
      async ({ project, params }) => {
        const message = await reading.message(project.seq, params);
        const { parseError, ...detail } = await reading.detail(message);
        const shown = presentDetail(message, detail, store.parts(message.seq));
        return envelope({ ...shown, parseError });
      },
      {
        params: MessageParams,
        response: withErrors({ 200: Envelope(MessageDetail) }),
        detail: inboxOperations.getInboxMessage,
      },
    )
    .patch(
      "/:messageId",
      async ({ project, params, body }) =>
        envelope(
          presentMessage(await edits.patch(await reading.message(project.seq, params), body)),
        ),
      {
        params: MessageParams,
        body: limited(MessagePatch, BODY_LIMITS.settings),
        response: withErrors({ 200: Envelope(Message) }),
        detail: inboxOperations.updateInboxMessage,
      },
    )
    .delete(
      "/:messageId",
      async ({ project, params }) => {
        await edits.remove(await reading.message(project.seq, params));
        return status(204, undefined);
      },
      {
        params: MessageParams,
        response: withErrors({ 204: NoContent }),
        detail: inboxOperations.deleteInboxMessage,
      },
    );
}
