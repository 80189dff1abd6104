/** The listener for mail from other servers, as a module. */

import { cannotListen } from "../config/listen-error.ts";
import { describeError } from "../lib/log.ts";
import { isBounceHost } from "../modules/domains/domains.ts";
import type { Module } from "../modules/module.ts";
import { domainOf, parseAddress } from "../protocols/mime/address.ts";
import { type Certificate, selfSignedCertificate } from "../tls/certificate.ts";
import { smtpCertificate } from "../tls/server-certificate.ts";
import type { InboundDeps, Recipient } from "./inbound.ts";
import type { SmtpListener } from "./listener.ts";
import type { App } from "../core/app.ts";
import { perApp } from "../lib/per-app.ts";
import { inboxService } from "../modules/inboxes/service.ts";
import { messageIntake } from "../modules/inboxes/messages/intake.ts";
import { inboundReceiving, inboundTargets } from "../modules/inbound-routes/inbound-routes.ts";
import { isReportAddress, processReport } from "../modules/bounces/bounces.ts";

/** Local parts that each server that receives mail has (RFC 5321 §4.5.1, RFC 2142 §4). */
const POSTMASTERS: readonly string[] = ["postmaster", "abuse"];
/** The inbox of the first project that has their mail. */
const INBOX = "postmaster";

/** The port of the listener; null until it listens. */
export const inboundPort = perApp((): { value: number | null } => ({ value: null }));

export const inboundModule = perApp(createInboundModule);

function createInboundModule(app: App): Module {
  const { clock, config, folder, writer, log } = app;
  const [inboxes, intake] = [inboxService(app), messageIntake(app)];
  const [received, targets] = [inboundReceiving(app), inboundTargets(app)];
  const certificates = smtpCertificate(app);
  let listener: SmtpListener | null = null;

  function find(text: string): Recipient | null {
    if (isReportAddress(app, text)) return { kind: "report" };
    // RFC 5321 §4.1.1.3: the only address without a domain.
    if (text.toLowerCase() === "postmaster") return { kind: "postmaster" };
    const parsed = parseAddress(text);
    const isPostmaster = parsed.ok && POSTMASTERS.includes(parsed.local);
    const host = parsed.ok ? domainOf(parsed.address) : "";
    const isOwnName = host === config.hostname.toLowerCase() || isBounceHost(app, host);
    if (isPostmaster && isOwnName) return { kind: "postmaster" };
    const target = targets.find(text);
    if (target !== null || !isPostmaster) return target;
    return targets.isRouteDomain(host) ? { kind: "postmaster" } : null;
  }

  function inboxOfPostmaster(): Promise<number> {
    const projectSeq = inboxes.firstProject();
    if (projectSeq === null) return Promise.reject(new Error("there is no project yet"));
    const known = inboxes.find(projectSeq, INBOX);
    if (known !== null) return Promise.resolve(known.seq);
    return writer.write(() => {
      const inbox =
        inboxes.find(projectSeq, INBOX) ?? inboxes.create(projectSeq, { name: INBOX })();
      return inbox.seq;
    });
  }

  function openForPostmaster(): ReturnType<InboundDeps["openForPostmaster"]> {
    const inbox = inboxOfPostmaster();
    // A failure matters when the message is complete; until then nothing awaits the promise.
    inbox.catch(() => {});
    const { add, discard, complete } = intake.open(inbox);
    return {
      add,
      discard,
      async complete(envelope) {
        await complete({ inboxSeq: await inbox, envelope, username: "", emailId: null });
      },
    };
  }

  /** Other servers encrypt with any certificate, so a self-signed one is announced as well. */
  async function certificate(): Promise<Certificate | null> {
    if (certificates !== null) return certificates.load();
    if (folder === null) return null;
    return selfSignedCertificate(folder, config.hostname).catch((error: unknown) => {
      log.warn("STARTTLS is not offered: no certificate could be made", {
        error: describeError(error),
      });
      return null;
    });
  }

  async function reloadCertificate(): Promise<void> {
    const changed = certificates?.reload() ?? null;
    if (changed !== null) listener?.useCertificate(changed, { isTrusted: true });
  }

  return {
    name: "inbound",
    recurring: [{ name: "inbound certificate", pattern: "*/30 * * * * *", run: reloadCertificate }],
    reload: reloadCertificate,
    async start() {
      if (config.inbound === null) return;
      const { host, port: wanted } = config.inbound;
      // Loaded only by servers that listen: the package smtp-server takes 8 ms and 11 MiB.
      const { createInboundListener } = await import("./inbound.ts");
      const { hostname, smtpMaxBytes: maxBytes } = config;
      const deps = {
        find,
        received,
        processReport: (raw: Uint8Array, to: string, from: { peer: string }) =>
          processReport(app, raw, to, from),
        openForPostmaster,
        clock,
        log,
        hostname,
        maxBytes,
      };
      listener = createInboundListener(deps, await certificate());
      inboundPort(app).value = await listener
        .listen({ host, port: wanted })
        .catch((error: unknown) => {
          throw cannotListen({ host, port: wanted }, "--inbound HOST:PORT", error);
        });
    },
    async stop() {
      await listener?.close();
    },
  };
}
