/** The SMTP listener as a module: it starts after the modules that it calls, and stops before them. */

import type { Config } from "../config/settings.ts";
import type { Writer } from "../db/writer.ts";
import type { Clock } from "../lib/clock.ts";
import { describeError, type Log } from "../lib/log.ts";
import type { InboxModule } from "../modules/inboxes/module.ts";
import type { Module } from "../modules/module.ts";
import { createCertificateFiles, selfSignedCertificate } from "./certificate.ts";
import { type CaptureInbox, type CaptureListener, createCaptureListener } from "./capture.ts";

export function createCaptureModule(deps: {
  config: Config;
  clock: Clock;
  log: Log;
  writer: Writer;
  inboxes: InboxModule;
  /** The data folder; null if the database is in memory. */
  folder: string | null;
}): Module & { port: () => number | null } {
  const { config, writer, log } = deps;
  const { inboxes, intake } = deps.inboxes;
  let listener: CaptureListener | null = null;
  let port: number | null = null;

  /** The inbox of the first project; the database has a project before the listener starts. */
  async function resolve(user: string, recipients: readonly string[]): Promise<number> {
    const byRecipient = inboxes.findByRecipient(recipients);
    if (byRecipient !== null) return byRecipient.seq;
    const projectSeq = inboxes.firstProject();
    if (projectSeq === null) throw new Error("there is no project yet");
    const named = user === "" ? null : (inboxes.findById(user) ?? inboxes.find(projectSeq, user));
    if (named !== null) return named.seq;
    const known = inboxes.find(projectSeq, "default");
    return known?.seq ?? (await writer.write(() => inboxes.defaultOf(projectSeq).seq));
  }

  const inbox: CaptureInbox = {
    resolve,
    decide: () => null,
    open: intake.open,
    recordLine: () => undefined,
    endSession: () => undefined,
  };

  const files =
    config.smtpTlsCert === null || config.smtpTlsKey === null
      ? null
      : createCertificateFiles({ cert: config.smtpTlsCert, key: config.smtpTlsKey }, log);

  /** Makes the certificate beside the running listener, because that takes a moment. */
  function offerSelfSigned(folder: string): void {
    selfSignedCertificate(folder, config.hostname).then(
      (certificate) => listener?.useCertificate(certificate),
      (error: unknown) =>
        log.warn("STARTTLS is not offered: no certificate could be made", {
          error: describeError(error),
        }),
    );
  }

  async function reloadCertificate(): Promise<void> {
    const certificate = files?.reload() ?? null;
    if (certificate !== null) listener?.useCertificate(certificate);
  }

  return {
    name: "capture over SMTP",
    recurring: [{ name: "SMTP certificate", pattern: "*/30 * * * * *", run: reloadCertificate }],
    port: () => port,
    async start() {
      if (config.captureSmtp === null) return;
      const certificate = files === null ? null : files.load();
      const { hostname } = config;
      listener = createCaptureListener({ ...deps, inbox, hostname, certificate });
      port = await listener.listen({
        host: config.captureSmtp.host,
        port: config.captureSmtp.port,
      });
      if (files === null && deps.folder !== null) offerSelfSigned(deps.folder);
    },
    async stop() {
      await listener?.close();
    },
  };
}
