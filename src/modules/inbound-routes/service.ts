/**
 * Inbound routes: addresses that a project receives mail for. In order: a route is added for an
 * address of a domain whose MX record leads to this server (mx-check.ts); the listener asks `find`
 * for each recipient; the message is stored while it arrives (arrival.ts), checked and read
 * (receive.ts, read-mail.ts), and becomes an event, and mail to the addresses to which routes forward
 * (forward.ts), in one change.
 */

import { and, eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import type { Db } from "../../db/open.ts";
import { inboundRoutes } from "../../db/schema/inbound.ts";
import type { Change } from "../../db/writer.ts";
import type { Page } from "../../http/envelope.ts";
import { type PageQuery, smallPage } from "../../http/pagination.ts";
import { type Clock, isoTime } from "../../lib/clock.ts";
import { AppError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { domainOf, parseAddress } from "../../protocols/mime/address.ts";
import { findDomainOwner } from "../domains/domains.ts";
import type { InboundRoute } from "./model.ts";

type RouteRow = typeof inboundRoutes.$inferSelect;
export type InboundRoutes = ReturnType<typeof createInboundRoutes>;

/** The local part of a route for all addresses of its domain. */
const ANY = "*";

export function createInboundRoutes(deps: { db: Db; clock: Clock; app: App }) {
  const { app, db, clock } = deps;

  function findByAddress(address: string): RouteRow | null {
    const match = eq(inboundRoutes.address, address);
    return db.select().from(inboundRoutes).where(match).limit(1).get() ?? null;
  }

  /** A route counts only while its project has the verified domain. */
  function isValid({ domain, projectSeq }: RouteRow): boolean {
    return findDomainOwner(app, domain)?.projectSeq === projectSeq;
  }

  return {
    /** The route of a recipient: that of its address, or else that of its domain. */
    find(recipient: string): RouteRow | null {
      const parsed = parseAddress(recipient);
      if (!parsed.ok) return null;
      const domain = domainOf(parsed.address);
      const route = findByAddress(parsed.address) ?? findByAddress(`${ANY}@${domain}`);
      return route !== null && isValid(route) ? route : null;
    },

    /** The project that has routes of a domain; null if there is none. */
    projectOf(domain: string): number | null {
      const match = eq(inboundRoutes.domain, domain.toLowerCase());
      const route = db.select().from(inboundRoutes).where(match).limit(1).get();
      return route !== undefined && isValid(route) ? route.projectSeq : null;
    },

    present,

    /** Throws 409 if the address has a route already, of this project or another one. */
    add(
      projectSeq: number,
      route: { address: string; forwardTo: string | null },
    ): Change<RouteRow> {
      return () => {
        if (findByAddress(route.address) !== null) throw routeExists(route.address);
        const createdAt = clock.now();
        const domain = domainOf(route.address);
        const row = { ...route, domain, id: newId(createdAt), projectSeq, createdAt };
        return db.insert(inboundRoutes).values(row).returning().get();
      };
    },

    remove(projectSeq: number, id: string): Change<void> {
      return () => {
        const match = and(eq(inboundRoutes.projectSeq, projectSeq), eq(inboundRoutes.id, id));
        const [removed] = db.delete(inboundRoutes).where(match).returning().all();
        if (removed === undefined) throw noRoute();
      };
    },
  };
}

export function listInboundRoutes(
  app: App,
  project: { seq: number },
  query: PageQuery,
): Promise<Page<InboundRoute>> {
  return smallPage(app, project, {
    name: "inbound-routes",
    query,
    table: inboundRoutes,
    filter: eq(inboundRoutes.projectSeq, project.seq),
    present,
  });
}

function present({ id, address, forwardTo, createdAt }: RouteRow): InboundRoute {
  const action = forwardTo === null ? { webhook: true as const } : { forward: forwardTo };
  return { id, address, action, createdAt: isoTime(createdAt) };
}

function noRoute(): AppError {
  return new AppError(404, "INBOUND_ROUTE_NOT_FOUND", "No such inbound route.", {
    suggestion: "Check the id of the route; it must belong to the project of the API key.",
  });
}

function routeExists(address: string): AppError {
  return new AppError(409, "CONFLICT", `There is a route for ${address} already.`, {
    suggestion: "List the routes of the project, and remove that route first.",
  });
}
