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
import { HIDDEN_VALUE, seesSecrets } from "../../http/role-views.ts";
import type { Role } from "../../http/roles.ts";
import { Inbox, InboxInput } from "./inbox-model.ts";
import { presentInbox } from "./present.ts";
import { inboxOperations } from "./operations.ts";
import type { InboxRow } from "./service.ts";
import type { App } from "../../core/app.ts";
import { admissionOf } from "../admission.ts";
import { inboxService } from "./service.ts";
import { type Counts, countInbox, countInboxes, NO_MESSAGES } from "./messages/numbers.ts";
import { inboxReading } from "./reading.ts";
import { failureRules } from "./rules/service.ts";
import { removeInbox } from "./retention.ts";

export function inboxRoutes(app: App) {
  const admission = admissionOf(app);
  const inboxes = inboxService(app);
  const reading = inboxReading(app);
  const rules = failureRules(app);
  /** The password also deletes mail, by the interface of Mailpit, so who only reads does not see it. */
  const present = (role: Role | null, inbox: InboxRow, counts: Counts = NO_MESSAGES) =>
    presentInbox(inbox, seesSecrets(role) ? inboxes.passwordOf(inbox) : HIDDEN_VALUE, {
      ...counts,
      activeRules: rules.countActive(inbox.seq),
    });

  return new Elysia({ name: "inbox-routes", prefix: "/inboxes" })
    .use(admission.inboxKey)
    .get(
      "",
      async ({ project, role }) => {
        await reading.inbox(project.seq, "default");
        const list = inboxes.list(project.seq);
        const counts = await countInboxes(app, project.seq, list);
        return envelope(list.map((inbox) => present(role, inbox, counts.get(inbox.seq))));
      },
      {
        response: withErrors({ 200: Envelope(Type.Array(Inbox)) }),
        detail: inboxOperations.listInboxes,
      },
    )
    .post(
      "",
      ({ project, role, body, once }) =>
        once(() => {
          const create = inboxes.create(project.seq, body);
          return () => ({ status: 201, body: envelope(present(role, create())) });
        }),
      {
        body: limited(InboxInput, BODY_LIMITS.settings),
        response: withErrors({ 201: Envelope(Inbox) }),
        detail: inboxOperations.createInbox,
      },
    )
    .get(
      "/:id",
      async ({ project, role, params }) => {
        const inbox = await reading.inbox(project.seq, params.id);
        return envelope(present(role, inbox, await countInbox(app, inbox)));
      },
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
