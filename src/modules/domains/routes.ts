/**
 * GET    /domains              list, filtered by status
 * POST   /domains              add; generates keys and starts a DNS check
 * GET    /domains/{id}
 * DELETE /domains/{id}
 * POST   /domains/{id}/verify  check the DNS now
 */

import { Elysia, status } from "elysia";
import type { Writer } from "../../db/writer.ts";
import type { Admission } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import {
  Envelope,
  envelope,
  IdParams,
  ListEnvelope,
  NoContent,
  withErrors,
} from "../../http/envelope.ts";
import { fieldError } from "../../lib/errors.ts";
import type { DomainChecks } from "./check-worker.ts";
import { Domain, DomainInput, DomainQuery } from "./model.ts";
import type { Domains } from "./service.ts";
import { domainOperations } from "./operations.ts";

export function domainRoutes(deps: {
  admission: Admission;
  domains: Domains;
  checks: DomainChecks;
  writer: Writer;
}) {
  const { admission, domains, checks, writer } = deps;
  return new Elysia({ name: "domain-routes", prefix: "/domains" })
    .use(admission.secretKey)
    .get("", async ({ project, query }) => envelope(await domains.list(project.seq, query)), {
      query: DomainQuery,
      response: withErrors({ 200: ListEnvelope(Domain) }),
      detail: domainOperations.listDomains,
    })
    .post(
      "",
      ({ project, body, once }) =>
        once(async () => {
          const domain = await domainOf(body.domain);
          const present = await domains.presenter();
          const add = await domains.add({
            projectSeq: project.seq,
            domain,
            isDeclaredVerified: false,
          });
          return () => {
            const { row, isNew } = add();
            writer.afterCommit(checks.wake);
            return { status: isNew ? 201 : 200, body: envelope(present(row)) };
          };
        }),
      {
        body: limited(DomainInput, BODY_LIMITS.settings),
        response: withErrors({ 200: Envelope(Domain), 201: Envelope(Domain) }),
        detail: domainOperations.addDomain,
      },
    )
    .get(
      "/:id",
      async ({ project, params }) => {
        const present = await domains.presenter();
        return envelope(present(domains.get(project.seq, params.id)));
      },
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(Domain) }),
        detail: domainOperations.getDomain,
      },
    )
    .delete(
      "/:id",
      async ({ project, params, storeWithoutQuota }) => {
        await storeWithoutQuota(domains.remove(project.seq, params.id));
        return status(204, undefined);
      },
      {
        params: IdParams,
        response: withErrors({ 204: NoContent }),
        detail: domainOperations.removeDomain,
      },
    )
    .post(
      "/:id/verify",
      async ({ project, params }) => {
        const row = await writer.write(domains.requestCheck(project.seq, params.id));
        await checks.check(row);
        const present = await domains.presenter();
        return envelope(present(domains.get(project.seq, params.id)));
      },
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(Domain) }),
        detail: domainOperations.verifyDomain,
      },
    );
}

async function domainOf(text: string): Promise<string> {
  // Loaded with the first domain: the list of public suffixes takes 4 ms and 6 MiB.
  const { parseSendingDomain } = await import("./name.ts");
  const parsed = parseSendingDomain(text);
  if (!parsed.ok) throw fieldError("domain", "invalid_format", parsed.reason);
  return parsed.domain;
}
