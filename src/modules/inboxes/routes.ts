/**
 * GET    /inboxes
 * POST   /inboxes
 * GET    /inboxes/{id}
 * DELETE /inboxes/{id}
 *
 * Everywhere, {id} is the id of an inbox or its name.
 */

import { Elysia, status } from "elysia";
import { Type } from "@sinclair/typebox";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope, envelope, IdParams, NoContent, withErrors } from "../../http/envelope.ts";
import { Inbox, InboxInput } from "./inbox-model.ts";
import { presentInbox } from "./present.ts";
import { inboxOperations } from "./operations.ts";
import type { InboxRow } from "./service.ts";
import type { App } from "../../core/app.ts";
import { admissionOf } from "../admission.ts";
import { inboxService } from "./service.ts";
import { messageStore } from "./messages/store.ts";
import { inboxReading } from "./reading.ts";
import { failureRules } from "./rules/service.ts";
import { removeInbox } from "./retention.ts";

export function inboxRoutes(app: App) {
  const admission = admissionOf(app);
  const inboxes = inboxService(app);
  const store = messageStore(app);
  const reading = inboxReading(app);
  const rules = failureRules(app);
  const present = (inbox: InboxRow) =>
    presentInbox(inbox, inboxes.passwordOf(inbox), {
      ...store.counts(inbox.seq),
      activeRules: rules.countActive(inbox.seq),
    });

  return new Elysia({ name: "inbox-routes", prefix: "/inboxes" })
    .use(admission.inboxKey)
    .get(
      "",
      async ({ project }) => {
        await reading.inbox(project.seq, "default");
        return envelope(inboxes.list(project.seq).map(present));
      },
      {
        response: withErrors({ 200: Envelope(Type.Array(Inbox)) }),
        detail: inboxOperations.listInboxes,
      },
    )
    .post(
      "",
      ({ project, body, once }) =>
        once(() => {
          const create = inboxes.create(project.seq, body);
          return () => ({ status: 201, body: envelope(present(create())) });
        }),
      {
        body: limited(InboxInput, BODY_LIMITS.settings),
        response: withErrors({ 201: Envelope(Inbox) }),
        detail: inboxOperations.createInbox,
      },
    )
    .get(
      "/:id",
      async ({ project, params }) => envelope(present(await reading.inbox(project.seq, params.id))),
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(Inbox) }),
        detail: inboxOperations.getInbox,
      },
    )
    .delete(
      "/:id",
      async ({ project, params }) => {
        await removeInbox(app, await reading.inbox(project.seq, params.id));
        return status(204, undefined);
      },
      {
        params: IdParams,
        response: withErrors({ 204: NoContent }),
        detail: inboxOperations.deleteInbox,
      },
    );
}
