/** The operations on domains, and the checks as a part of the server. */

import { and, eq } from "drizzle-orm";
import { domains } from "../../db/schema/domains.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope, ListEnvelope, NoContent } from "../../http/envelope.ts";
import { created, operations, read, write } from "../../http/operations.ts";
import { smallPage } from "../../http/pagination.ts";
import type { Noun } from "../module.ts";
import { domainChecks, shiftChecks } from "./checks.ts";
import {
  domainPresenter,
  getDomain,
  parseDomain,
  prepareDomain,
  removeDomain,
  requestCheck,
} from "./domains.ts";
import { Domain, DomainInput, DomainQuery } from "./model.ts";
import { readOwnKey } from "./own-key.ts";

const domainOperations = operations("Domains", { parameters: { id: "Id of the domain" } }, [
  read("GET /domains", {
    id: "listDomains",
    role: "VIEWER",
    scopes: ["READ"],
    summary: "List domains",
    description: "Domains that match the filter, newest first.",
    query: DomainQuery,
    answer: ListEnvelope(Domain),
    async run(app, { project, query: { status, ...query } }) {
      const present = await domainPresenter(app);
      return smallPage(app, project, {
        name: "domains",
        query,
        table: domains,
        filter: and(
          eq(domains.projectSeq, project.seq),
          status === undefined ? undefined : eq(domains.status, status),
        ),
        present,
      });
    },
  }),
  write("POST /domains", {
    id: "addDomain",
    role: "ADMIN",
    summary: "Add a domain for verification",
    description:
      "Creates its DKIM keys and starts a DNS check: 201. A domain that the project already has " +
      "is answered with 200; a domain that another project has verified with 409. With `dkim`, the " +
      "domain keeps the key that is published already. It must be the key in the DNS, or in `dkim.record`.",
    isIdempotent: true,
    links: {
      getDomain: { id: "/data/id" },
      verifyDomain: { id: "/data/id" },
      removeDomain: { id: "/data/id" },
    },
    body: limited(DomainInput, BODY_LIMITS.settings),
    answer: Envelope(Domain),
    status: [200, 201],
    async prepare(app, { project, body }) {
      const domain = await parseDomain(body.domain);
      const present = await domainPresenter(app);
      const ownKey = body.dkim ? await readOwnKey(app, domain, body.dkim) : undefined;
      const input = { projectSeq: project.seq, domain, isDeclaredVerified: false, ownKey };
      return { present, store: await prepareDomain(app, input) };
    },
    run(app, _, { present, store }) {
      const { row, isNew } = store();
      app.writer.afterCommit(domainChecks(app).wake);
      return isNew ? created(present(row)) : present(row);
    },
  }),
  read("GET /domains/:id", {
    id: "getDomain",
    role: "VIEWER",
    scopes: ["READ"],
    summary: "Domain details",
    description: "The domain with the DNS records to publish and the result of the latest check.",
    answer: Envelope(Domain),
    async run(app, { project, params }) {
      const present = await domainPresenter(app);
      return present(getDomain(app, project.seq, params.id));
    },
  }),
  write("DELETE /domains/:id", {
    id: "removeDomain",
    role: "ADMIN",
    summary: "Remove a domain; 409 while a template or campaign sends from it",
    description: "The DKIM keys of the domain are deleted with it.",
    isWithinQuota: false,
    answer: NoContent,
    run: (app, { project, params }) => removeDomain(app, project.seq, params.id),
  }),
  read("POST /domains/:id/verify", {
    id: "verifyDomain",
    role: "ADMIN",
    isAudited: false,
    summary: "Check the DNS records of a domain now",
    description: "Answers when the check is done, with its result.",
    answer: Envelope(Domain),
    async run(app, { project, params }) {
      const row = await app.writer.write(() => requestCheck(app, project.seq, params.id));
      await domainChecks(app).check(row);
      const present = await domainPresenter(app);
      return present(getDomain(app, project.seq, params.id));
    },
  }),
]);

export const domainNoun: Noun = {
  name: "domains",
  operations: domainOperations,
  dueTimes: [shiftChecks],
  wake: (app) => domainChecks(app).wake(),
  start: async (app) => domainChecks(app).start(),
  // Starts no more checks. Checks under way end when the DNS client is closed.
  stop: async (app) => void domainChecks(app).stop(),
  close: (app) => domainChecks(app).stop(),
};
