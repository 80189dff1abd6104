/** GET /inboxes/{id}/messages/{messageId}/checks */

import { isIP } from "node:net";
import { Elysia } from "elysia";
import type { App } from "../../../core/app.ts";
import { Envelope, envelope, withErrors } from "../../../http/envelope.ts";
import { allowIdle } from "../../../http/long-requests.ts";
import { fieldError } from "../../../lib/errors.ts";
import { readAuthor } from "../../../protocols/mime/from-field.ts";
import { parseEnvelope } from "../envelope.ts";
import { MessageParams } from "../model.ts";
import { inboxOperations } from "../operations.ts";
import { type Authentication, readClaims } from "../../../checks/authentication.ts";
import { headerOf } from "../../../checks/author.ts";
import { createLinkCheck } from "../../../checks/request-links.ts";
import { checkContent } from "../../content-work/content-work.ts";
import { CheckQuery, MessageChecks } from "./model.ts";
import { admissionOf } from "../../admission.ts";
import { inboxReading } from "../reading.ts";
import { messageStore } from "../messages/store.ts";

const shownOf = ({ spf, dkim, dmarc }: Authentication) => ({ spf, dkim, dmarc });

export function checkRoutes(app: App) {
  const { dns } = app;
  const admission = admissionOf(app);
  const reading = inboxReading(app);
  const store = messageStore(app);
  const checkLinks = createLinkCheck(app.fetchGuarded);

  return new Elysia({ name: "inbox-check-routes", prefix: "/inboxes/:id/messages/:messageId" })
    .use(admission.inboxKey)
    .get(
      "/checks",
      async ({ project, params, query, request, server }) => {
        const { ip } = query;
        if (ip !== undefined && isIP(ip) === 0) {
          throw fieldError("ip", "invalid_format", "must be an IP address");
        }
        const message = await reading.message(project.seq, params);
        allowIdle({ request, server }, 0);
        const { signal } = request;
        const { from, peer, helo, hasBareLf } = parseEnvelope(message.envelope);
        const links = query.links === "true" ? "all" : "none";
        const evaluations: Awaited<ReturnType<typeof readClaims>>[] = [];
        const { urls, ...checks } = await checkContent(app, project.seq, async () => {
          const raw = store.raw(message.seq);
          const detail = await reading.detail(message);
          if (query.authentication === "false") return { detail, raw, hasBareLf, links };
          const author = readAuthor(headerOf(raw));
          const claimed = { head: raw, pieces: [raw], author, sender: from, ip: ip ?? peer, helo };
          const evaluate = await readClaims(claimed, dns, {
            mta: app.config.hostname,
            signal,
            onFailure: (error) => {
              throw error;
            },
          });
          evaluations.push(evaluate);
          return { detail, raw, hasBareLf, links };
        });
        // The look-ups of the sender may be slow, so they do not hold a thread.
        const [[evaluated], requested] = await Promise.all([
          Promise.all(evaluations.map((evaluate) => evaluate())),
          links === "none" ? null : checkLinks(urls, signal),
        ]);
        const authentication = evaluated === undefined ? null : shownOf(evaluated);
        return envelope({ ...checks, authentication, links: requested });
      },
      {
        params: MessageParams,
        query: CheckQuery,
        response: withErrors({ 200: Envelope(MessageChecks) }),
        detail: inboxOperations.checkInboxMessage,
      },
    );
}
