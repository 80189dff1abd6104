/**
 * GET    /inboxes/{id}/rules
 * POST   /inboxes/{id}/rules
 * DELETE /inboxes/{id}/rules
 * DELETE /inboxes/{id}/rules/{ruleId}
 */

import { Elysia, status } from "elysia";
import { Type } from "@sinclair/typebox";
import { BODY_LIMITS, limited } from "../../../http/body-limits.ts";
import { Envelope, envelope, IdParams, NoContent, withErrors } from "../../../http/envelope.ts";
import { ensureChecks } from "../../../http/validation.ts";
import { inboxOperations } from "../operations.ts";
import { Rule, RuleInput, RuleParams } from "./model.ts";
import type { App } from "../../../core/app.ts";
import { admissionOf } from "../../admission.ts";
import { inboxReading } from "../reading.ts";
import { failureRules } from "./service.ts";

export function ruleRoutes(app: App) {
  const { writer } = app;
  const admission = admissionOf(app);
  const reading = inboxReading(app);
  const rules = failureRules(app);

  return new Elysia({ name: "inbox-rule-routes", prefix: "/inboxes/:id/rules" })
    .use(admission.inboxKey)
    .get(
      "",
      async ({ project, params }) =>
        envelope(rules.list((await reading.inbox(project.seq, params.id)).seq)),
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(Type.Array(Rule)) }),
        detail: inboxOperations.listInboxRules,
      },
    )
    .post(
      "",
      ({ project, params, body, once }) =>
        once(async () => {
          ensureChecks(RuleInput, body);
          const { seq } = await reading.inbox(project.seq, params.id);
          const create = rules.create(seq, body);
          return () => ({ status: 201, body: envelope(create()) });
        }),
      {
        params: IdParams,
        body: limited(RuleInput, BODY_LIMITS.settings),
        response: withErrors({ 201: Envelope(Rule) }),
        detail: inboxOperations.createInboxRule,
      },
    )
    .delete(
      "",
      async ({ project, params }) => {
        const { seq } = await reading.inbox(project.seq, params.id);
        await writer.write(rules.removeAll(seq));
        return status(204, undefined);
      },
      {
        params: IdParams,
        response: withErrors({ 204: NoContent }),
        detail: inboxOperations.deleteInboxRules,
      },
    )
    .delete(
      "/:ruleId",
      async ({ project, params }) => {
        const { seq } = await reading.inbox(project.seq, params.id);
        await writer.write(rules.remove(seq, params.ruleId));
        return status(204, undefined);
      },
      {
        params: RuleParams,
        response: withErrors({ 204: NoContent }),
        detail: inboxOperations.deleteInboxRule,
      },
    );
}
