/** GET /inboxes/{id}/wait    answers when enough messages match */

import { Elysia } from "elysia";
import { accessEnded } from "../../../http/admission-errors.ts";
import { Envelope, envelope, IdParams, withErrors } from "../../../http/envelope.ts";
import { allowIdle } from "../../../http/long-requests.ts";
import { fieldError } from "../../../lib/errors.ts";
import { presentMessage } from "../present.ts";
import { inboxOperations } from "../operations.ts";
import { MAX_WAIT_SECONDS, WaitQuery, WaitResult } from "./model.ts";
import type { App } from "../../../core/app.ts";
import { admissionOf } from "../../admission.ts";
import { messageMatching } from "../matching.ts";
import { inboxReading } from "../reading.ts";
import { messageStore } from "../messages/store.ts";
import { inboxWaiters } from "./waiters.ts";

/** RFC 3339 with seconds. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

export function waitRoutes(app: App) {
  const admission = admissionOf(app);
  const matching = messageMatching(app);
  const reading = inboxReading(app);
  const store = messageStore(app);
  const waiters = inboxWaiters(app);

  function sinceOf(inboxSeq: number, text: string | undefined) {
    if (text === undefined) return { afterSeq: 0, sinceMs: 0 };
    const message = store.byId(inboxSeq, text);
    if (message !== null) return { afterSeq: message.seq, sinceMs: 0 };
    const sinceMs = TIME.test(text) ? Date.parse(text) : Number.NaN;
    if (!Number.isNaN(sinceMs)) return { afterSeq: 0, sinceMs };
    const expected = "must be a time such as 2026-03-02T10:00:00Z, or the id of a message";
    throw fieldError("since", "invalid_format", expected);
  }

  return new Elysia({ name: "inbox-wait-routes", prefix: "/inboxes" }).use(admission.inboxKey).get(
    "/:id/wait",
    async ({ project, watchAdmission, params, query, request, server }) => {
      matching.check(query.query ?? "");
      const inbox = await reading.inbox(project.seq, params.id);
      const isAdmitted = watchAdmission();
      allowIdle({ request, server }, 2 * MAX_WAIT_SECONDS);
      const { matched, quiet, items } = await waiters.wait(inbox, {
        ...sinceOf(inbox.seq, query.since),
        query: query.query ?? "",
        count: Number(query.count ?? 1),
        timeoutMs: Number(query.timeoutSeconds ?? 30) * 1000,
        quietMs: query.quietMs === undefined ? null : Number(query.quietMs),
        signal: request.signal,
      });
      if (!isAdmitted()) throw accessEnded();
      return envelope({ matched, quiet, items: items.map(presentMessage) });
    },
    {
      params: IdParams,
      query: WaitQuery,
      response: withErrors({ 200: Envelope(WaitResult) }),
      detail: inboxOperations.waitForInboxMessages,
    },
  );
}
