/**
 * Checks whether a host leads to this server. In order:
 *
 * 1. Its addresses in the DNS are those of the tracking URL of the installation, or some of them.
 * 2. A request to it, with a random text in its path, is answered with the HMAC of that text, which only
 *    this installation knows. With `--tls acme` a host without a certificate is asked over HTTP first.
 */

import { Elysia } from "elysia";
import { Type } from "@sinclair/typebox";
import type { App } from "../../core/app.ts";
import { hostedNames } from "../../core/hosted-names.ts";
import { undocumented } from "../../http/documented.ts";
import { deriveKey, hmac, randomBase62 } from "../../lib/crypto.ts";
import { perApp } from "../../lib/per-app.ts";
import {
  createFetchGuarded,
  type FetchGuarded,
} from "../../protocols/fetch-guarded/fetch-guarded.ts";
import { FetchRefused } from "../../protocols/fetch-guarded/refusal.ts";
import { baseAtHost } from "../../render/links.ts";

const PATH = "/.well-known/mailstead-tracking";
const NONCE_LENGTH = 32;
const MAX_ANSWER_BYTES = 256;

const checkKey = perApp((app: App) => deriveKey(app.secret, "tracking-host-checks"));

/** The answer to a text; null if it is none of a check. */
export function answerCheck(app: App, nonce: string): string | null {
  if (nonce.length !== NONCE_LENGTH || !/^[0-9A-Za-z]+$/.test(nonce)) return null;
  return hmac(checkKey(app), nonce).toString("base64url");
}

/** Answers the requests of checks; it changes nothing and tells nothing. */
export function hostCheckRoutes(app: App) {
  return new Elysia({ name: "tracking-check-routes" }).get(
    `${PATH}/:nonce`,
    ({ params }) => {
      const answer = answerCheck(app, params.nonce);
      return new Response(answer ?? "Not found\n", {
        status: answer === null ? 404 : 200,
        headers: { "Cache-Control": "no-store", "Content-Type": "text/plain" },
      });
    },
    { params: Type.Object({ nonce: Type.String() }), detail: undocumented("ANYONE") },
  );
}

/** A redirect could lead to this server from a host that does not. */
const fetchOnce = perApp((app: App): FetchGuarded =>
  createFetchGuarded({
    dns: app.dns,
    allowPrivateAddresses: app.config.allowPrivateAddresses,
    followsRedirects: false,
  }),
);

/**
 * - found: links may lead to it.
 * - reached: it leads here, and a certificate is ordered.
 * - unknown: a look-up failed, which says nothing about the host.
 */
export type HostCheck =
  { kind: "found" } | { kind: "reached" } | { kind: "fault" | "unknown"; reason: string };

export async function checkHost(app: App, host: string, signal: AbortSignal): Promise<HostCheck> {
  const { hostname: expected } = new URL(app.trackingUrl);
  const [own, wanted] = await Promise.all([lookUp(app, host), lookUp(app, expected)]);
  if (own === null || wanted === null) {
    return { kind: "unknown", reason: `${host} could not be looked up in the DNS` };
  }
  if (own.length === 0) return fault(`${host} has no address in the DNS yet`);
  if (wanted.length > 0 && !own.some((address) => wanted.includes(address))) {
    return fault(`${host} leads to ${own[0]}, which is no address of ${expected}`);
  }
  return askHost(app, host, signal);
}

const fault = (reason: string): HostCheck => ({ kind: "fault", reason });

/** Null if a look-up failed. */
async function lookUp({ dns }: App, name: string): Promise<string[] | null> {
  const answers = await Promise.all([
    dns.resolve(name, "A", { fresh: true }),
    dns.resolve(name, "AAAA", { fresh: true }),
  ]);
  const found = answers.flatMap((answer) => (answer.kind === "records" ? answer.records : []));
  return found.length === 0 && answers.some(({ kind }) => kind === "failed") ? null : found;
}

async function askHost(app: App, host: string, signal: AbortSignal): Promise<HostCheck> {
  const nonce = randomBase62(NONCE_LENGTH);
  const isBefore = app.config.tls === "acme" && !hostedNames(app).hasCertificate(host);
  const base = isBefore ? `http://${host}` : baseAtHost(app.trackingUrl, host);
  const url = `${base}${PATH}/${nonce}`;
  try {
    const request = { method: "GET", maxBodyBytes: MAX_ANSWER_BYTES, signal };
    const { status, body } = await fetchOnce(app)(url, request);
    if (status === 200 && Buffer.from(body).toString() === answerCheck(app, nonce)) {
      return { kind: isBefore ? "reached" : "found" };
    }
    return fault(`another server answers at ${base} (status ${status})`);
  } catch (error) {
    if (!(error instanceof FetchRefused)) throw error;
    return fault(`no answer at ${base}: ${error.message}`);
  }
}
