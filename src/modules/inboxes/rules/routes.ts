/**
 * GET    /inboxes/{id}/rules
 * POST   /inboxes/{id}/rules
 * DELETE /inboxes/{id}/rules
 * DELETE /inboxes/{id}/rules/{ruleId}
 */

import { Elysia, status } from "elysia";
import { Type } from "@sinclair/typebox";
import type { Writer } from "../../../db/writer.ts";
import type { Admission } from "../../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../../http/body-limits.ts";
import { Envelope, envelope, IdParams, NoContent, withErrors } from "../../../http/envelope.ts";
import { ensureChecks } from "../../../http/validation.ts";
import type { InboxReading } from "../reading.ts";
import { Rule, RuleInput, RuleParams } from "./model.ts";
import type { Rules } from "./service.ts";

const tags = ["Inboxes"];

export function ruleRoutes(deps: {
  admission: Admission;
  reading: InboxReading;
  rules: Rules;
  writer: Writer;
}) {
  const { admission, reading, rules, writer } = deps;

  return new Elysia({ name: "inbox-rule-routes", prefix: "/inboxes/:id/rules" })
    .use(admission.inboxKey)
    .get(
      "",
      async ({ project, params }) =>
        envelope(rules.list((await reading.inbox(project.seq, params.id)).seq)),
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(Type.Array(Rule)) }),
        detail: { tags, summary: "List the failure rules of an inbox, with how often each fired" },
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
        detail: {
          tags,
          summary: "Make SMTP fail in a defined way",
          description:
            "At its stage, the first rule that matches replies with an error, delays, or ends the " +
            "connection. Rules at the stage `connect` belong to the inbox `default`, because no " +
            "other inbox is known before AUTH or RCPT.",
        },
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
        detail: { tags, summary: "Delete all failure rules of an inbox" },
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
        detail: { tags, summary: "Delete a failure rule" },
      },
    );
}
