/**
 * GET /plunk/domains/project/{any}     the domains of the project of the key, in a bare array
 * GET /plunk/domains/{id}/verify       checks the DNS records now
 */

import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { App } from "../../core/app.ts";
import type { Admission } from "../../http/admission.ts";
import { imitated } from "../../http/documented.ts";
import { IdParams, withErrors } from "../../http/envelope.ts";
import { PLUNK } from "../../http/route-path.ts";
import { isoTime } from "../../lib/clock.ts";
import { domainChecks } from "../domains/checks.ts";
import {
  domainPresenter,
  type DomainRow,
  domainsOfProject,
  getDomain,
  requestCheck,
} from "../domains/domains.ts";
import type { Domain } from "../domains/model.ts";

const PlunkDomain = Type.Object({
  id: Type.String(),
  domain: Type.String(),
  verified: Type.Boolean(),
  dkimTokens: Type.Array(Type.String()),
  projectId: Type.String(),
  createdAt: Type.String(),
});

const Verification = Type.Object({
  domain: Type.String(),
  tokens: Type.Array(Type.String()),
  status: Type.String(),
  verified: Type.Boolean(),
});

/** The words of Plunk's mail provider. */
const STATUSES = { VERIFIED: "Success", PENDING: "Pending", FAILED: "Failed" } as const;

export function plunkDomainRoutes(app: App, admission: Admission) {
  return new Elysia({ name: "plunk-domain-routes", prefix: `${PLUNK}/domains` })
    .use(admission.secretKey)
    .get(
      "/project/:any",
      async ({ project }) => {
        const present = await domainPresenter(app);
        return domainsOfProject(app, project.seq).map((row) =>
          shown(project.id, row, present(row)),
        );
      },
      {
        params: Type.Object({ any: Type.String() }),
        response: withErrors({ 200: Type.Array(PlunkDomain) }),
        detail: imitated("listDomains", "VIEWER"),
      },
    )
    .get(
      "/:id/verify",
      async ({ project, params }) => {
        const row = await app.writer.write(() => requestCheck(app, project.seq, params.id));
        await domainChecks(app).check(row);
        const present = await domainPresenter(app);
        const domain = present(getDomain(app, project.seq, params.id));
        const { verified } = domain;
        return {
          domain: domain.domain,
          tokens: dkimNames(domain),
          status: STATUSES[domain.status],
          verified,
        };
      },
      {
        params: IdParams,
        response: withErrors({ 200: Verification }),
        detail: imitated("verifyDomain", "ADMIN"),
      },
    );
}

/** The names of the DKIM records, in place of the tokens from which Plunk makes names. */
const dkimNames = ({ records }: Domain): string[] =>
  records.filter(({ purpose }) => purpose === "DKIM").map(({ name }) => name);

function shown(projectId: string, { id, domain, createdAt }: DomainRow, presented: Domain) {
  const { verified } = presented;
  return {
    id,
    domain,
    verified,
    dkimTokens: dkimNames(presented),
    projectId,
    createdAt: isoTime(createdAt),
  };
}
