/** The submission listeners as a module: with STARTTLS, and with TLS from the first byte. */

import { ConfigError } from "../config/read.ts";
import { requireSubmissionCertificate } from "../config/submission-certificate.ts";
import { cannotListen } from "../config/listen-error.ts";
import type { Module } from "../modules/module.ts";
import { type Certificate, selfSignedCertificate } from "../tls/certificate.ts";
import { smtpCertificate } from "../tls/server-certificate.ts";
import type { SmtpListener } from "./listener.ts";
import type { App } from "../core/app.ts";
import { perApp } from "../lib/per-app.ts";
import { submissionsOf } from "../modules/emails/submission/accept.ts";
import { admissionOf } from "../modules/admission.ts";
import { countUse, findKey } from "../modules/keys.ts";

type Address = { host: string; port: number };
type Kind = "submission" | "submissions";

/** The ports of the listeners, once they listen. */
export const submissionPorts = perApp((): Partial<Record<Kind, number>> => ({}));

export const submissionModule = perApp(createSubmissionModule);

function createSubmissionModule(app: App): Module {
  const { clock, config, folder, log } = app;
  const submissions = submissionsOf(app);
  const ports = submissionPorts(app);
  const certificates = smtpCertificate(app);
  const listeners: SmtpListener[] = [];

  /** Counts a message. Returns the seconds until the next one is possible; null if it is now. */
  function takeRate(projectSeq: number): number | null {
    const budget = admissionOf(app).takeRate(projectSeq);
    return budget === null || budget.isAllowed ? null : budget.resetSeconds;
  }

  /** Null for a listener that offers no TLS. */
  async function certificateFor(kind: Kind): Promise<Certificate | null> {
    if (certificates !== null) return certificates.load();
    requireSubmissionCertificate(config);
    if (kind === "submission") return null;
    if (folder === null) throw new ConfigError(`--${kind} needs --smtp-tls-cert`);
    return selfSignedCertificate(folder, config.hostname);
  }

  async function open(kind: Kind, address: Address): Promise<void> {
    const certificate = await certificateFor(kind);
    // Loaded only by servers that listen: the package smtp-server takes 8 ms and 11 MiB.
    const { createSubmissionListener } = await import("./submission.ts");
    const listener = createSubmissionListener(
      {
        submissions,
        findKey: (digest) => findKey(app, digest),
        countUse: (keyId) => countUse(app, keyId),
        takeRate,
        clock,
        log,
        hostname: config.hostname,
        maxBytes: config.smtpMaxBytes,
      },
      { certificate, isImplicit: kind === "submissions" },
    );
    ports[kind] = await listener.listen(address).catch((error: unknown) => {
      throw cannotListen(address, `--${kind} HOST:PORT`, error);
    });
    listeners.push(listener);
  }

  async function reloadCertificate(): Promise<void> {
    const certificate = certificates?.reload() ?? null;
    if (certificate === null) return;
    for (const listener of listeners) listener.useCertificate(certificate, { isTrusted: true });
  }

  return {
    name: "submission",
    recurring: [
      { name: "submission certificate", pattern: "*/30 * * * * *", run: reloadCertificate },
    ],
    reload: reloadCertificate,
    async start() {
      await submissions.removeIncomplete();
      if (config.submission !== null) await open("submission", config.submission);
      if (config.submissions !== null) await open("submissions", config.submissions);
    },
    async stop() {
      await Promise.all(listeners.map((listener) => listener.close()));
    },
  };
}
