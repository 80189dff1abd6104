/**
 * The certificates of tracking hosts, with `--tls acme`. Each host has an order and a certificate of its own,
 * so that a host for which the CA gives none holds up neither the others nor the installation. A
 * certificate is ordered once a check has reached the host over HTTP, and renewed as long as the host leads
 * here, also after it was removed.
 */

import { and, eq, isNotNull, isNull, or } from "drizzle-orm";
import { createSecureContext, type SecureContext } from "node:tls";
import type { App } from "../core/app.ts";
import { hostedNames } from "../core/hosted-names.ts";
import { trackingHosts } from "../db/schema/projects.ts";
import { deriveKey } from "../lib/crypto.ts";
import { perApp } from "../lib/per-app.ts";
import { createAcme } from "./acme.ts";
import { openAcmeState, readAcmeState, sealAcmeState } from "./acme-state.ts";

type HostRow = typeof trackingHosts.$inferSelect;
type Order = ReturnType<typeof createAcme>;

/** Hosts that get a certificate; the others wait. */
const MAX_CERTIFICATES = 100;
const FULL = `this server has ${MAX_CERTIFICATES} certificates of tracking hosts, which is the most`;

/** The last check has reached the host. One whose look-up has failed has a problem, and no misses. */
const leadsHere = ({ checkedAt, misses, problem }: HostRow): boolean =>
  checkedAt !== null && misses === 0 && problem === null;

export const hostCertificates = perApp(createHostCertificates);

function createHostCertificates(app: App) {
  const { config, db, secret } = app;
  const sealKey = deriveKey(secret, "tracking-host-certificates");
  const orders = new Map<string, Order>();
  const contexts = new Map<string, SecureContext>();
  let isStopped = false;

  /**
   * The hosts that lead here, and those that did when a certificate was ordered. Others take no place.
   */
  function readHosts(): HostRow[] {
    const { certificate, checkedAt, misses, problem, seq } = trackingHosts;
    const isReached = and(isNotNull(checkedAt), eq(misses, 0), isNull(problem));
    return db
      .select()
      .from(trackingHosts)
      .where(or(isNotNull(certificate), isReached))
      .orderBy(seq)
      .limit(MAX_CERTIFICATES)
      .all();
  }

  function failureOf(host: string): string | null {
    const order = orders.get(host);
    if (order === undefined) return orders.size < MAX_CERTIFICATES ? null : FULL;
    return order.failure()?.message ?? null;
  }

  function orderOf({ seq, host, certificate }: HostRow): Order {
    const known = orders.get(host);
    if (known !== undefined) return known;
    const order = createAcme(app, (issued) => contexts.set(host, createSecureContext(issued)), {
      names: [host],
      accountKey: readAcmeState(db, secret)?.accountKey,
      stored: certificate === null ? null : openAcmeState(sealKey, certificate),
      store: (state) => hostedNames(app).storeCertificate(seq, sealAcmeState(sealKey, state)),
    });
    const before = order.stored();
    if (before !== null) contexts.set(host, createSecureContext(before));
    orders.set(host, order);
    return order;
  }

  /** Hosts that do not lead here any more are forgotten by their owner. */
  function forget(rows: readonly HostRow[]): void {
    const hosts = new Set(rows.map(({ host }) => host));
    for (const [host, order] of orders) {
      if (hosts.has(host)) continue;
      order.stop();
      orders.delete(host);
      contexts.delete(host);
    }
  }

  return {
    contextOf: (host: string): SecureContext | null => contexts.get(host) ?? null,

    /** The key authorization of a token (RFC 8555 §8.1); null for an unknown token. */
    keyAuthorization(token: string): string | null {
      for (const order of orders.values()) {
        const found = order.keyAuthorization(token);
        if (found !== null) return found;
      }
      return null;
    },

    /** Loads the stored certificates. */
    load(): void {
      if (config.tls !== "acme") return;
      const names = hostedNames(app);
      names.hasCertificate = (host) => contexts.has(host);
      names.failureOf = failureOf;
      for (const row of readHosts()) orderOf(row);
    },

    /** Orders and renews the certificates that are due, one host after the other. */
    async check(): Promise<void> {
      if (config.tls !== "acme") return;
      const rows = readHosts();
      forget(rows);
      for (const row of rows) {
        if (isStopped) return;
        if (leadsHere(row)) await orderOf(row).check();
      }
    },

    stop(): void {
      isStopped = true;
      for (const order of orders.values()) order.stop();
    },
  };
}
