/**
 * The certificate of this server. `--tls files` has it in two files, and `--tls acme` gets it from a CA. HTTPS and the SMTP listeners
 * show the same one, unless the SMTP listeners have one of their own (`--smtp-tls-cert`).
 */

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { App } from "../core/app.ts";
import { perApp } from "../lib/per-app.ts";
import { createAcme } from "./acme.ts";
import {
  type Certificate,
  type CertificateSource,
  createCertificateFiles,
  selfSignedCertificate,
} from "./certificate.ts";

/** The certificate of HTTPS. There is none with `--tls off`. */
export const serverCertificate = perApp(createServerCertificate);

function createServerCertificate(app: App) {
  const { config, folder, log } = app;
  const { tls, tlsCert: cert, tlsKey: key } = config;
  const files = cert === null || key === null ? null : createCertificateFiles({ cert, key }, log);
  const acme = tls === "acme" ? createAcme(app, change) : null;
  const users: ((certificate: Certificate) => void)[] = [];
  let current: Certificate | null = null;

  function change(certificate: Certificate): void {
    current = certificate;
    for (const use of users) use(certificate);
  }

  /** Uses the files if they have changed. */
  function reload(): void {
    const changed = current === null ? null : (files?.reload() ?? null);
    if (changed !== null) change(changed);
  }

  /** Until the CA has given a certificate, a self-signed one is shown. */
  async function first(): Promise<Certificate | null> {
    if (files !== null) return files.load();
    if (acme === null) return null;
    if (folder === null) throw new Error("--tls acme needs a data folder");
    return acme.stored() ?? selfSignedCertificate(folder, config.hostname);
  }

  return {
    /** The certificate that new connections get; null without TLS, and before `load`. */
    current: (): Certificate | null => current,

    /** Loads the certificate before a server listens. Rejects with ConfigError if it cannot be used. */
    async load(): Promise<Certificate | null> {
      current ??= await first();
      return current;
    },

    /** When the certificate ends, in milliseconds; null without one of the operator or a CA. */
    endsAt(): number | null {
      const isSelfSigned = acme !== null && acme.stored() === null;
      return current === null || isSelfSigned ? null : lifeOf(current).to;
    },

    /** Its life, and the tries at the CA that have failed since it was issued. Null without TLS. */
    state() {
      if (current === null) return null;
      const isSelfSigned = acme !== null && acme.stored() === null;
      return {
        life: isSelfSigned ? null : lifeOf(current),
        failure: acme?.failure() ?? null,
      };
    },

    /** Calls `use` after each change. */
    onChange(use: (certificate: Certificate) => void): void {
      users.push(use);
    },

    /** Returns the key authorization of a token (RFC 8555 §8.1); null for an unknown token. */
    keyAuthorization: (token: string): string | null => acme?.keyAuthorization(token) ?? null,

    /** Whether every browser trusts the certificate, because a public CA has given it. */
    isPublic: (): boolean =>
      config.acmeDirectory === null && acme !== null && acme.stored() !== null,

    /** Uses the files if they have changed, or orders a certificate if that is due. */
    async check(): Promise<void> {
      reload();
      await acme?.check();
    },

    reload,

    /** Ends the work with the CA. */
    stop: () => acme?.stop(),
  };
}

function lifeOf({ cert }: Pick<Certificate, "cert">): { from: number; to: number } {
  const { validFromDate, validToDate } = new X509Certificate(cert);
  return { from: validFromDate.getTime(), to: validToDate.getTime() };
}

/** The lives of the certificates in use, and the tries at the CA that have failed. */
export function certificateStates(app: App) {
  const { smtpTlsCert: file, inbound, submission, submissions } = app.config;
  const https = serverCertificate(app).state();
  const isListening = [inbound, submission, submissions].some((address) => address !== null);
  const cert = file === null || !isListening ? null : readFileSync(file, "utf8");
  return [
    ...(https === null ? [] : [{ name: "HTTPS" as const, ...https }]),
    ...(cert === null ? [] : [{ name: "SMTP" as const, life: lifeOf({ cert }), failure: null }]),
  ];
}

/** The certificate of an SMTP listener; null if the operator has set none. Each listener has its own source. */
export function smtpCertificate(app: App): CertificateSource | null {
  const { tls, smtpTlsCert: cert, smtpTlsKey: key } = app.config;
  if (cert !== null && key !== null) return createCertificateFiles({ cert, key }, app.log);
  if (tls === "off") return null;
  const shared = serverCertificate(app);
  let seen: Certificate | null = null;
  return {
    async load() {
      seen = await shared.load();
      if (seen === null) throw new Error(`--tls ${tls} has no certificate`);
      return seen;
    },
    reload() {
      const current = shared.current();
      if (current === seen) return null;
      seen = current;
      return current;
    },
  };
}
