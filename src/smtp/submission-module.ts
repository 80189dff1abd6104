/** The submission listeners as a module: with STARTTLS, and with TLS from the first byte. */

import { ConfigError } from "../config/read.ts";
import { cannotListen } from "../config/listen-error.ts";
import type { Config } from "../config/settings.ts";
import type { Log } from "../lib/log.ts";
import type { Module } from "../modules/module.ts";
import type { Submissions } from "../modules/emails/submission/accept.ts";
import { type Certificate, createCertificateFiles, selfSignedCertificate } from "./certificate.ts";
import type { SmtpListener } from "./listener.ts";
import { isLoopback } from "../protocols/smtp/relay-url.ts";
import type { SubmissionDeps } from "./submission.ts";

type Address = { host: string; port: number };
type Kind = "submission" | "submissions";

export function createSubmissionModule(
  deps: Omit<SubmissionDeps, "hostname" | "maxBytes" | "log"> & {
    config: Config;
    log: Log;
    submissions: Submissions;
    /** The data folder; null if the database is in memory. */
    folder: string | null;
  },
): Module & { ports: () => Readonly<Partial<Record<Kind, number>>> } {
  const { config, log } = deps;
  const { smtpTlsCert: cert, smtpTlsKey: key } = config;
  const files = cert === null || key === null ? null : createCertificateFiles({ cert, key }, log);
  const listeners: SmtpListener[] = [];
  const ports: Partial<Record<Kind, number>> = {};

  /** Null for a listener that offers no TLS. */
  async function certificateFor(kind: Kind, { host }: Address): Promise<Certificate | null> {
    if (files !== null) return files.load();
    if (!isLoopback(host)) {
      throw new ConfigError(
        `--${kind} on ${host} needs a certificate, because passwords are sent to it; ` +
          "set --smtp-tls-cert and --smtp-tls-key, or choose an address such as 127.0.0.1",
      );
    }
    if (kind === "submission") return null;
    if (deps.folder === null) throw new ConfigError(`--${kind} needs --smtp-tls-cert`);
    return selfSignedCertificate(deps.folder, config.hostname);
  }

  async function open(kind: Kind, address: Address): Promise<void> {
    const certificate = await certificateFor(kind, address);
    // Loaded only by servers that listen: the package smtp-server takes 8 ms and 11 MiB.
    const { createSubmissionListener } = await import("./submission.ts");
    const listener = createSubmissionListener(
      { ...deps, hostname: config.hostname, maxBytes: config.smtpMaxBytes },
      { certificate, isImplicit: kind === "submissions" },
    );
    ports[kind] = await listener.listen(address).catch((error: unknown) => {
      throw cannotListen(address, `--${kind} HOST:PORT`, error);
    });
    listeners.push(listener);
  }

  async function reloadCertificate(): Promise<void> {
    const certificate = files?.reload() ?? null;
    if (certificate === null) return;
    for (const listener of listeners) listener.useCertificate(certificate, { isTrusted: true });
  }

  return {
    name: "submission",
    recurring: [
      { name: "submission certificate", pattern: "*/30 * * * * *", run: reloadCertificate },
    ],
    ports: () => ports,
    async start() {
      await deps.submissions.removeIncomplete();
      const { submission, submissions } = config;
      if (submission !== null) await open("submission", submission);
      if (submissions !== null) await open("submissions", submissions);
    },
    async stop() {
      await Promise.all(listeners.map((listener) => listener.close()));
    },
  };
}
