/** The SMTP listener as a module: it starts after the modules that it calls, and stops before them. */

import { cannotListen } from "../config/listen-error.ts";
import { ConfigError } from "../config/read.ts";
import { describeError } from "../lib/log.ts";
import { createLoginCheck } from "../lib/logins.ts";
import { senderOfInbox } from "../lib/message-senders.ts";
import type { Arrival } from "../modules/inboxes/messages/intake.ts";
import type { RuleInput } from "../modules/inboxes/rules/model.ts";
import type { InboxRow } from "../modules/inboxes/service.ts";
import type { Module } from "../modules/module.ts";
import { type Certificate, selfSignedCertificate } from "../tls/certificate.ts";
import { smtpCertificate } from "../tls/server-certificate.ts";
import type { CaptureInbox, CapturePolicy, createCaptureListener } from "./capture.ts";
import type { SmtpListener } from "./listener.ts";
import type { Stage, StageAction, StageFacts } from "./stages.ts";
import type { App } from "../core/app.ts";
import { perApp } from "../lib/per-app.ts";
import { inboxService } from "../modules/inboxes/service.ts";
import { messageIntake } from "../modules/inboxes/messages/intake.ts";
import { mailParser } from "../modules/inboxes/parsing/parser.ts";
import { failureRules } from "../modules/inboxes/rules/service.ts";
import { mailpitChaos } from "../modules/inboxes/mailpit/chaos.ts";
import { smtpSessions } from "../modules/inboxes/sessions/service.ts";
import { capturePort } from "../modules/accounts/state.ts";

export const captureModule = perApp(createCaptureModule);

function createCaptureModule(app: App): Module {
  const { config, clock, folder, writer, log } = app;
  const [inboxes, intake, parser] = [inboxService(app), messageIntake(app), mailParser(app)];
  const [rules, chaos, sessions] = [failureRules(app), mailpitChaos(app), smtpSessions(app)];
  let listener: SmtpListener | null = null;

  /** The inbox of a recipient's domain or of the user, else the default one; null if it is new. */
  function findInbox(user: string, recipients: readonly string[]): InboxRow | null {
    const byRecipient = inboxes.findByRecipient(recipients);
    if (byRecipient !== null) return byRecipient;
    const projectSeq = inboxes.firstProject();
    if (projectSeq === null) return null;
    const named = user === "" ? null : (inboxes.findById(user) ?? inboxes.find(projectSeq, user));
    return named ?? inboxes.findDefault(projectSeq);
  }

  /** The default inbox is created with its first message. */
  async function resolve(user: string, recipients: readonly string[]): Promise<number> {
    const known = findInbox(user, recipients);
    if (known !== null) return known.seq;
    const projectSeq = inboxes.firstProject();
    if (projectSeq === null) throw new Error("there is no project yet");
    return writer.write(() => inboxes.defaultOf(projectSeq).seq);
  }

  const hasRules = () => !rules.isEmpty() || !chaos.isEmpty();

  /** The action of a failure rule; null at once if there is no rule. */
  function decide(stage: Stage, facts: StageFacts): Promise<StageAction | null> | null {
    if (!hasRules()) return null;
    const target = findInbox(facts.user, facts.recipients ?? []);
    return target === null ? null : decideIn(target.seq, stage, facts);
  }

  async function decideIn(
    inboxSeq: number,
    stage: Stage,
    { head, sessionId, ...facts }: StageFacts,
  ): Promise<StageAction | null> {
    const subject = async () => {
      const raw = head?.() ?? new Uint8Array();
      const [result] = await parser.index([{ raw, recipients: [] }], senderOfInbox(inboxSeq));
      return result?.ok === true ? result.parsed.subject : "";
    };
    const ruled = await rules.decide(inboxSeq, stage, { ...facts, subject });
    const action = ruled === null ? chaos.decide(inboxSeq, stage) : stageActionOf(ruled);
    if (action !== null) {
      const isClosed = action.kind === "disconnect";
      sessions.noteRule(sessionId, { inboxSeq, peer: facts.ip, isClosed });
    }
    return action;
  }

  /** Notes the inbox of each message for the transcript of its session. */
  function withSession(arrival: Arrival): ReturnType<CaptureInbox["open"]> {
    return {
      ...arrival,
      async complete(arrived) {
        const stored = await arrival.complete(arrived);
        const { sessionId, peer } = arrived.envelope;
        if (sessionId !== null) sessions.noteMessage(sessionId, arrived.inboxSeq, peer);
        return stored;
      },
    };
  }

  const inbox: CaptureInbox = {
    resolve,
    decide,
    hasRules,
    open: (inboxSeq) => withSession(intake.open(inboxSeq)),
    recordLine: sessions.recordLine,
    endSession: ({ id, user, peer }) =>
      sessions.end(id, peer, () => findInbox(user, [])?.seq ?? null),
  };

  const certificates = smtpCertificate(app);

  /** Makes the certificate beside the running listener, because that takes a moment. */
  function acceptSelfSigned(inFolder: string): void {
    selfSignedCertificate(inFolder, config.hostname).then(
      (certificate) => listener?.useCertificate(certificate, { isTrusted: false }),
      (error: unknown) =>
        log.warn("STARTTLS is not accepted: no certificate could be made", {
          error: describeError(error),
        }),
    );
  }

  /** A listener that demands TLS has a certificate before it listens. */
  async function firstCertificate(): Promise<Certificate | null> {
    if (certificates !== null) return certificates.load();
    if (config.captureTls === "optional") return null;
    if (folder === null) throw new ConfigError("--capture-tls needs --smtp-tls-cert");
    return selfSignedCertificate(folder, config.hostname);
  }

  /** A login of the operator, or the name and the password of an inbox. */
  function createIsLogin(): CapturePolicy["isLogin"] {
    if (config.captureAuth.length === 0) return null;
    const isKnown = createLoginCheck(config.captureAuth);
    return async (user, password, network) =>
      isInboxLogin(user, password) || isKnown(user, password, network);
  }

  function isInboxLogin(user: string, password: string): boolean {
    const projectSeq = inboxes.firstProject();
    const named =
      inboxes.findById(user) ?? (projectSeq === null ? null : inboxes.find(projectSeq, user));
    return named !== null && inboxes.isPassword(named, password);
  }

  async function reloadCertificate(): Promise<void> {
    const certificate = certificates?.reload() ?? null;
    if (certificate !== null) listener?.useCertificate(certificate, { isTrusted: true });
  }

  return {
    name: "capture over SMTP",
    recurring: [{ name: "SMTP certificate", pattern: "*/30 * * * * *", run: reloadCertificate }],
    reload: reloadCertificate,
    async start() {
      if (config.captureSmtp === null) return;
      const certificate = await firstCertificate();
      const { hostname } = config;
      const policy: CapturePolicy = {
        isLogin: createIsLogin(),
        tls: config.captureTls,
        recipients: config.captureRecipients,
        maxRecipients: config.captureMaxRecipients,
      };
      listener = await loadListener({ inbox, clock, log, hostname, certificate, policy });
      const { host, port: wanted } = config.captureSmtp;
      capturePort(app).value = await listener
        .listen({ host, port: wanted })
        .catch((error: unknown) => {
          throw cannotListen({ host, port: wanted }, "--capture-smtp HOST:PORT", error);
        });
      if (certificate === null && folder !== null) acceptSelfSigned(folder);
    },
    async stop() {
      await listener?.close();
      await sessions.settled();
    },
  };
}

/** Loaded only by servers that listen: the package smtp-server takes 8 ms and 11 MiB. */
async function loadListener(
  deps: Parameters<typeof createCaptureListener>[0],
): Promise<SmtpListener> {
  const listening = await import("./capture.ts");
  return listening.createCaptureListener(deps);
}

function stageActionOf({ reply, delayMs, disconnect }: RuleInput["action"]): StageAction | null {
  if (disconnect === true) return { kind: "disconnect" };
  if (delayMs !== undefined) return { kind: "delay", ms: delayMs };
  if (reply === undefined) return null;
  return { kind: "reply", code: Number(reply.slice(0, 3)), text: reply.slice(4) };
}
