/** The list of modules: each noun has one line here. The order of the list is explained below. */

import type { App } from "./core/app.ts";
import { eventLog } from "./events/log.ts";
import { idempotencyOf } from "./http/idempotency.ts";
import { operationRoutes } from "./http/operations.ts";
import { perApp } from "./lib/per-app.ts";
import { alertModule } from "./modules/alerts/alerts.ts";
import { accountModule } from "./modules/accounts/accounts.ts";
import { admissionOf } from "./modules/admission.ts";
import { backupModule } from "./modules/backups.ts";
import { eventExportModule } from "./modules/event-export/event-export.ts";
import { bounceNoun } from "./modules/bounces/bounces.ts";
import { campaignModule } from "./modules/campaigns/campaigns.ts";
import { consentNoun } from "./modules/consents/consents.ts";
import { contactModule } from "./modules/contacts/contacts.ts";
import { contentWorkModule } from "./modules/content-work/content-work.ts";
import { domainNoun } from "./modules/domains/operations.ts";
import { emailModule } from "./modules/emails/emails.ts";
import { eventNoun } from "./modules/events/events.ts";
import { formNoun } from "./modules/forms/forms.ts";
import { imageModule } from "./modules/images/files.ts";
import { imageNoun } from "./modules/images/images.ts";
import { inboundRouteModule } from "./modules/inbound-routes/inbound-routes.ts";
import { inboxModule } from "./modules/inboxes/inboxes.ts";
import { keyNoun } from "./modules/keys.ts";
import { layoutNoun } from "./modules/layouts.ts";
import { liveModule } from "./modules/live.ts";
import { mcpNoun } from "./modules/mcp/mcp.ts";
import type { Module, Noun } from "./modules/module.ts";
import { plunkNoun } from "./modules/plunk/plunk.ts";
import { privacyNoun } from "./modules/privacy/privacy.ts";
import { projectNoun } from "./modules/projects.ts";
import { relayReportNoun } from "./modules/relay-reports/relay-reports.ts";
import { projectRelayNoun } from "./modules/delivery/project-relays.ts";
import { trackingHostNoun } from "./modules/delivery/tracking-hosts.ts";
import { reportMailboxNoun } from "./modules/report-mailboxes/report-mailboxes.ts";
import { resendModule } from "./modules/resend/resend.ts";
import { retentionNoun } from "./modules/retention.ts";
import { segmentModule } from "./modules/segments/segments.ts";
import { queueModule, sendingModule } from "./modules/sending.ts";
import { settingsModule } from "./modules/settings/settings.ts";
import { statsNoun } from "./modules/stats/stats.ts";
import { subscriptionNoun } from "./modules/subscription/subscription.ts";
import { suppressionNoun } from "./modules/suppressions.ts";
import { systemModule } from "./modules/system/system.ts";
import { draftNoun } from "./modules/template-editor/drafts.ts";
import { templateTestNoun } from "./modules/template-editor/test-mail.ts";
import { templateNoun } from "./modules/templates.ts";
import { preferencePreviewNoun } from "./modules/preferences/preview.ts";
import { preferenceNoun } from "./modules/preferences/preferences.ts";
import { contactTopicNoun, topicNoun } from "./modules/topics/topics.ts";
import { trackNoun } from "./modules/track.ts";
import { trackingNoun } from "./modules/tracking/tracking.ts";
import { verificationNoun } from "./modules/verification/verification.ts";
import { updateModule } from "./modules/updates.ts";
import { viewNoun } from "./modules/views/views.ts";
import { webhookNoun } from "./modules/webhooks/noun.ts";
import { workflowModule } from "./modules/workflows/workflows.ts";
import { serverChecks } from "./server-checks.ts";
import { captureModule } from "./smtp/capture-module.ts";
import { inboundModule } from "./smtp/inbound-module.ts";
import { submissionModule } from "./smtp/submission-module.ts";
import { rememberSettings } from "./stored-settings.ts";
import { hostCertificates } from "./tls/host-certificates.ts";
import { certificateStates, serverCertificate } from "./tls/server-certificate.ts";

/** The modules of an application. Each is made once. */
export const modulesOf = perApp(createModules);

function createModules(app: App): readonly Module[] {
  // Before workflows and webhooks, whose handlers of events run after those of campaigns.
  const campaigns = campaignModule(app);
  const workflows = workflowModule(app);
  const inboxes = inboxModule(app);
  const live = liveModule(app);

  /**
   * Started in this order and stopped in the reverse one. So the stop begins with the lease of mails,
   * then ends the other workers; it closes the transport before the DNS client, and the DNS client
   * before it waits for DNS checks; the last write returns the leases of the queue.
   */
  return [
    queueModule(app),
    contentWorkModule(app),
    answerModule(app),
    moduleOf(app, keyNoun),
    moduleOf(app, projectNoun),
    accountModule(app),
    moduleOf(app, viewNoun),
    moduleOf(app, templateNoun),
    moduleOf(app, draftNoun),
    moduleOf(app, templateTestNoun),
    moduleOf(app, layoutNoun),
    moduleOf(app, imageNoun),
    imageModule(app),
    moduleOf(app, topicNoun),
    moduleOf(app, contactTopicNoun),
    moduleOf(app, consentNoun),
    moduleOf(app, privacyNoun),
    moduleOf(app, suppressionNoun),
    moduleOf(app, bounceNoun),
    inboundRouteModule(app),
    moduleOf(app, trackNoun),
    moduleOf(app, eventNoun),
    moduleOf(app, statsNoun),
    moduleOf(app, verificationNoun),
    moduleOf(app, subscriptionNoun),
    moduleOf(app, preferenceNoun),
    moduleOf(app, formNoun),
    moduleOf(app, preferencePreviewNoun),
    moduleOf(app, trackingNoun),
    moduleOf(app, projectRelayNoun),
    moduleOf(app, trackingHostNoun),
    moduleOf(app, relayReportNoun),
    moduleOf(app, reportMailboxNoun),
    moduleOf(app, retentionNoun),
    backupModule(app),
    eventExportModule(app),
    updateModule(app),
    alertModule(app, { certificates: () => certificateStates(app) }),
    segmentModule(app),
    moduleOf(app, domainNoun),
    { name: "DNS client", close: async () => app.dns.close() },
    moduleOf(app, webhookNoun),
    workflows,
    campaigns,
    contactModule(app),
    emailModule(app),
    moduleOf(app, plunkNoun),
    resendModule(app),
    systemModule(app, () => serverChecks(app)),
    settingsModule(app, (config) => rememberSettings(app.db, config)),
    inboxes,
    moduleOf(app, mcpNoun),
    live,
    certificateModule(app),
    captureModule(app),
    submissionModule(app),
    inboundModule(app),
    sendingModule(app),
  ];
}

/** Uses the files of the certificate after they have changed, or renews it at its CA. */
function certificateModule(app: App): Module {
  const { check, reload, stop } = serverCertificate(app);
  const hosts = hostCertificates(app);
  return {
    name: "certificate",
    recurring: [
      { name: "certificate", pattern: "*/30 * * * * *", run: check },
      // Apart from that of the installation, which must not wait for those of tracking hosts.
      { name: "certificates of hosts", pattern: "15,45 * * * * *", run: hosts.check },
    ],
    start: async () => hosts.load(),
    reload: async () => reload(),
    async stop() {
      stop();
      hosts.stop();
    },
  };
}

/** Purges the answers that are stored for an Idempotency-Key. */
function answerModule(app: App): Module {
  const { purge, shift } = idempotencyOf(app);
  return {
    name: "idempotency",
    recurring: [{ name: "idempotency purge", pattern: "17 * * * * *", run: purge }],
    lifetimes: [shift],
  };
}

/** A noun as a part of one server. */
export function moduleOf(
  app: App,
  { name, operations, routes, connect, recurring = [], onEvent, dueTimes = [], ...hooks }: Noun,
): Module {
  const admission = admissionOf(app);
  connect?.(app);
  if (onEvent !== undefined) eventLog(app).onEvent((event) => onEvent(app, event));
  const bind = <T>(hook: ((bound: App) => T) | undefined) => hook && (() => hook(app));
  return {
    name,
    routes: [
      ...(operations === undefined ? [] : [operationRoutes(app, admission, operations)]),
      ...(routes?.(app, admission) ?? []),
    ],
    recurring: recurring.map((work) => ({ ...work, run: () => work.run(app) })),
    dueTimes: dueTimes.map((move) => (shift) => move(app, shift)),
    wake: bind(hooks.wake),
    start: bind(hooks.start),
    stop: bind(hooks.stop),
    close: bind(hooks.close),
    flush: bind(hooks.flush),
  };
}
