/** GET /inboxes/{id}/messages/{messageId}/checks */

import { isIP } from "node:net";
import { Elysia } from "elysia";
import type { Admission } from "../../../http/admission.ts";
import { Envelope, envelope, withErrors } from "../../../http/envelope.ts";
import { allowIdle } from "../../../http/long-requests.ts";
import { fieldError } from "../../../lib/errors.ts";
import type { Dns } from "../../../protocols/dns/client.ts";
import type { FetchGuarded } from "../../../protocols/fetch-guarded/fetch-guarded.ts";
import { readAuthor } from "../../../protocols/mime/from-field.ts";
import { parseEnvelope } from "../envelope.ts";
import { findLinks } from "../../../checks/find-links.ts";
import type { MessageStore } from "../messages/store.ts";
import { MessageParams } from "../model.ts";
import { inboxOperations } from "../operations.ts";
import type { InboxReading } from "../reading.ts";
import { readClaims } from "../../../checks/authentication.ts";
import { headerOf } from "../../../checks/author.ts";
import { createLinkCheck } from "../../../checks/request-links.ts";
import { summarizeSupport } from "../../../checks/html-support/summary.ts";
import { lint } from "../../../checks/lint.ts";
import { nextIteration } from "../../../lib/yield.ts";
import { CheckQuery, MessageChecks } from "./model.ts";

export function checkRoutes(deps: {
  admission: Admission;
  dns: Dns;
  fetchGuarded: FetchGuarded;
  config: { hostname: string };
  reading: InboxReading;
  store: MessageStore;
}) {
  const { admission, dns, reading, store } = deps;
  const checkLinks = createLinkCheck(deps.fetchGuarded);

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
        const { from, peer, helo, hasBareLf } = parseEnvelope(message.envelope);
        const raw = store.raw(message.seq);
        const detail = await reading.detail(message);
        const author = readAuthor(headerOf(raw));
        const claimed = { head: raw, pieces: [raw], author, sender: from, ip: ip ?? peer, helo };
        const { signal } = request;
        const evaluate = await readClaims(claimed, dns, {
          mta: deps.config.hostname,
          signal,
          onFailure: (error) => {
            throw error;
          },
        });
        const urls = query.links === "true" ? findLinks(detail).map(({ url }) => url) : null;
        const [{ spf, dkim, dmarc }, links] = await Promise.all([
          evaluate(),
          urls === null ? null : checkLinks(urls, signal),
        ]);
        // Each of these takes up to a tenth of a second for the largest bodies.
        const findings = lint({ detail, raw, hasBareLf });
        await nextIteration();
        const support = await summarizeSupport(detail.html);
        return envelope({
          findings,
          authentication: { spf, dkim, dmarc },
          ...support,
          links,
        });
      },
      {
        params: MessageParams,
        query: CheckQuery,
        response: withErrors({ 200: Envelope(MessageChecks) }),
        detail: inboxOperations.checkInboxMessage,
      },
    );
}
