/** Finds what a recipient of received mail stands for, and gathers the recipients of one message. */

import type { App } from "../../core/app.ts";
import type { Clock } from "../../lib/clock.ts";
import { domainOf } from "../../protocols/mime/address.ts";
import { forwardedSender, hasSrsForm, reverseSender } from "../../protocols/srs/srs.ts";
import { findDomainOwner, isBounceHost, returnPathHost } from "../domains/domains.ts";
import type { ReceivedRows } from "./rows.ts";
import type { InboundRoutes } from "./service.ts";

/**
 * - route: the address has an inbound route. `forwardTo` is null if mail only becomes an event.
 * - returned: the address stands for the original sender of a forwarded mail, who gets its bounces.
 *   `about` is the mail by which it was forwarded.
 */
export type RecipientTarget =
  | { kind: "route"; projectSeq: number; address: string; forwardTo: string | null }
  | { kind: "returned"; projectSeq: number; address: string; forwardTo: string; about: number };

/** The targets of one message, all of one project. */
export type Targets = {
  projectSeq: number;
  /** The recipients in lower case. */
  recipients: readonly string[];
  /** The recipients for whose address a route exists. */
  routes: readonly string[];
  forwardTo: readonly string[];
  /** For a bounce, the `seq` of the mail by which the bounced message was forwarded. */
  about: number | null;
  /** The domain of the first recipient. */
  host: string;
};

/** Bounces of one forwarded mail: servers also send warnings before the final one. */
const MAX_BOUNCES = 5;

export function createTargets(deps: {
  rows: Pick<ReceivedRows, "findForwarded">;
  routes: Pick<InboundRoutes, "find" | "projectOf">;
  app: App;
  key: Uint8Array;
  clock: Pick<Clock, "now">;
}) {
  const { app, rows, routes, key, clock } = deps;

  /** The project whose forwarded mail has senders of this host. */
  function projectOfHost(host: string): number | null {
    if (!isBounceHost(app, host)) return routes.projectOf(host);
    return findDomainOwner(app, host)?.projectSeq ?? null;
  }

  function returned(address: string): RecipientTarget | null {
    const host = domainOf(address).toLowerCase();
    const projectSeq = projectOfHost(host);
    if (projectSeq === null) return null;
    const reversed = reverseSender(key, address, { project: projectSeq, at: clock.now() });
    if (!reversed.ok) return null;
    // Otherwise a person with one forwarded mail could send any number of messages to its sender address.
    const forwarded = rows.findForwarded(projectSeq, reversed.number);
    if (forwarded === null || forwarded.bounces >= MAX_BOUNCES) return null;
    // The local part keeps its case, which its server may distinguish.
    const forwardTo = reversed.address;
    const about = forwarded.emailSeq;
    return { kind: "returned", projectSeq, address: address.toLowerCase(), forwardTo, about };
  }

  return {
    /** Null if nothing is received for the address. */
    find(address: string): RecipientTarget | null {
      if (hasSrsForm(address)) return returned(address);
      const route = routes.find(address);
      if (route === null) return null;
      const { projectSeq, forwardTo } = route;
      return { kind: "route", projectSeq, address: address.toLowerCase(), forwardTo };
    },

    /** Whether mail of this domain is received. */
    isRouteDomain: (domain: string): boolean => routes.projectOf(domain) !== null,

    /**
     * The sender of the envelope under which the received mail of this number is forwarded. It is the null sender for bounces, and for
     * senders that cannot be rewritten, whose bounces get lost.
     */
    senderOf(
      { projectSeq, host }: Targets,
      { sender, number }: { sender: string; number: number },
    ): string {
      const owner = findDomainOwner(app, host)?.domain ?? host;
      const bounceHost = returnPathHost(app, projectSeq, owner) ?? host;
      const forwarded = { project: projectSeq, host: bounceHost, number, at: clock.now() };
      return forwardedSender(key, sender, forwarded) ?? "";
    },
  };
}

/** Gathers the targets of a message. They must be of one project; null without targets. */
export function gatherTargets(targets: readonly RecipientTarget[]): Targets | null {
  const [first] = targets;
  if (first === undefined) return null;
  const recipients = [...new Set(targets.map(({ address }) => address))];
  const forwardTo = [...new Set(targets.flatMap((target) => target.forwardTo ?? []))];
  const routes = targets.filter(({ kind }) => kind === "route").map(({ address }) => address);
  const [about = null] = targets.flatMap((target) =>
    target.kind === "returned" ? [target.about] : [],
  );
  const { projectSeq, address } = first;
  return { projectSeq, recipients, routes, forwardTo, about, host: domainOf(address) };
}
