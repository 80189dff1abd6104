/**
 * POST   /domains
 * GET    /domains
 * GET    /domains/{id}
 * POST   /domains/{id}/verify
 * DELETE /domains/{id}
 */

import { Type } from "@sinclair/typebox";
import { eq } from "drizzle-orm";
import { domains } from "../../db/schema/domains.ts";
import { BODY_LIMITS } from "../../http/body-limits.ts";
import { domainChecks } from "../domains/checks.ts";
import {
  domainPresenter,
  getDomain,
  parseDomain,
  prepareDomain,
  removeDomain,
  requestCheck,
} from "../domains/domains.ts";
import type { Domain } from "../domains/model.ts";
import { Fields, Maybe, refuseGiven, resendRoute, type ResendRoute, withNames } from "./call.ts";
import { resendPage, ResendPageQuery } from "./pages.ts";

/** A server has no regions, so the client's choice has no effect, and answers name this one. */
const REGION = "self-hosted";
const CAPABILITIES = { sending: "enabled", receiving: "disabled" } as const;

const NewDomain = Fields({
  name: Type.String({ minLength: 1, maxLength: 1000 }),
  region: Maybe(Type.String()),
  custom_return_path: Maybe(Type.String()),
  open_tracking: Maybe(Type.Boolean()),
  click_tracking: Maybe(Type.Boolean()),
  tls: Maybe(Type.String()),
  tracking_subdomain: Maybe(Type.String()),
  capabilities: Maybe(Type.Record(Type.String(), Type.String())),
});

const OF_THE_SERVER = "is not supported; it is a setting of the server";
const OF_THE_PROJECT = "is not supported; it is a setting of the project";

export const resendDomainRoutes: readonly ResendRoute[] = [
  resendRoute(
    "POST /domains",
    {
      role: "ADMIN",
      audit: ["addDomain", "domain"],
      body: NewDomain,
      limit: BODY_LIMITS.settings,
    },
    (app, { project, body, once }) =>
      once(async () => {
        refuseGiven(body, {
          custom_return_path: OF_THE_SERVER,
          tracking_subdomain: OF_THE_SERVER,
          open_tracking: OF_THE_PROJECT,
          click_tracking: OF_THE_PROJECT,
          ...(body.tls === "enforced" ? { tls: OF_THE_SERVER } : {}),
          ...(body.capabilities?.["receiving"] === "enabled"
            ? { capabilities: "cannot receive here; make an inbound route" }
            : {}),
        });
        const domain = await withNames({ domain: "name" }, () => parseDomain(body.name));
        const present = await domainPresenter(app);
        const input = { projectSeq: project.seq, domain, isDeclaredVerified: false };
        const store = await prepareDomain(app, input);
        return () => {
          const { row } = store();
          app.writer.afterCommit(domainChecks(app).wake);
          const { object: _, ...created } = shown(present(row));
          return { status: 201, body: created };
        };
      }),
  ),
  resendRoute(
    "GET /domains",
    { role: "VIEWER", query: ResendPageQuery },
    async (app, { project, query }) => {
      const present = await domainPresenter(app);
      return resendPage(app, query, {
        table: domains,
        filter: eq(domains.projectSeq, project.seq),
        present: (row) => withoutRecords(present(row)),
      });
    },
  ),
  resendRoute("GET /domains/:id", { role: "VIEWER" }, async (app, { project, params }) => {
    const present = await domainPresenter(app);
    return shown(present(getDomain(app, project.seq, params["id"] ?? "")));
  }),
  resendRoute("POST /domains/:id/verify", { role: "ADMIN" }, async (app, { project, params }) => {
    const { id = "" } = params;
    const row = await app.writer.write(() => requestCheck(app, project.seq, id));
    await domainChecks(app).check(row);
    return { object: "domain", id };
  }),
  resendRoute(
    "DELETE /domains/:id",
    { role: "ADMIN", audit: ["removeDomain", "domain"] },
    async (app, { project, params: { id = "" }, storeWithoutQuota }) => {
      await storeWithoutQuota(() => removeDomain(app, project.seq, id));
      return { object: "domain", id, deleted: true };
    },
  ),
];

/** The status of a domain. One that was not checked yet is not started. */
function statusOf({ status, lastCheckedAt }: Domain): string {
  if (status === "VERIFIED") return "verified";
  if (status === "FAILED") return "failed";
  return lastCheckedAt === null ? "not_started" : "pending";
}

function withoutRecords(domain: Domain) {
  const { id, domain: name, createdAt } = domain;
  return {
    id,
    name,
    status: statusOf(domain),
    created_at: createdAt,
    region: REGION,
    capabilities: CAPABILITIES,
  };
}

const shown = (domain: Domain) => ({
  object: "domain",
  ...withoutRecords(domain),
  records: domain.records.filter(({ value }) => value !== "").map(recordOf),
});

type DomainRecord = Domain["records"][number];

const NAMES: Readonly<Record<DomainRecord["purpose"], string>> = {
  DKIM: "DKIM",
  SPF: "SPF",
  RETURN_PATH: "SPF",
  DMARC: "DMARC",
};
const STATUSES: Readonly<Record<DomainRecord["status"], string>> = {
  PENDING: "not_started",
  OK: "verified",
  MISMATCH: "failed",
  MISSING: "pending",
};

function recordOf({ purpose, type, host, value, status }: DomainRecord) {
  const record = {
    record: NAMES[purpose],
    name: host,
    type,
    ttl: "Auto",
    status: STATUSES[status],
  };
  const exchange = /^(\d+) (\S+)$/.exec(value);
  if (type !== "MX" || exchange === null) return { ...record, value };
  return { ...record, value: exchange[2] ?? "", priority: Number(exchange[1]) };
}
