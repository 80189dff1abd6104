/** The SMTP listener as a module: it starts after the modules that it calls, and stops before them. */

import type { Config } from "../config/settings.ts";
import type { Writer } from "../db/writer.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { InboxModule } from "../modules/inboxes/module.ts";
import type { Module } from "../modules/module.ts";
import { type CaptureInbox, type CaptureListener, createCaptureListener } from "./capture.ts";

export function createCaptureModule(deps: {
  config: Config;
  clock: Clock;
  log: Log;
  writer: Writer;
  inboxes: InboxModule;
}): Module & { port: () => number | null } {
  const { config, writer } = deps;
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
    decide: async () => null,
    open: intake.open,
    recordLine: () => undefined,
    endSession: () => undefined,
  };

  return {
    name: "capture over SMTP",
    port: () => port,
    async start() {
      if (config.captureSmtp === null) return;
      listener = createCaptureListener({ ...deps, inbox, hostname: config.hostname, tls: null });
      port = await listener.listen({
        host: config.captureSmtp.host,
        port: config.captureSmtp.port,
      });
    },
    async stop() {
      await listener?.close();
    },
  };
}
