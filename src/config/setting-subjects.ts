/** The order and the subjects in which help, docs/configuration.md and the dashboard list the settings. */

import type { SettingName } from "./settings.ts";

export const SETTING_SUBJECTS: readonly (readonly [
  subject: string,
  names: readonly SettingName[],
])[] = [
  ["Where the server is", ["data", "host", "port", "url", "trackingUrl", "hostname", "secret"]],
  [
    "HTTPS",
    ["tls", "tlsCert", "tlsKey", "acmeDirectory", "acmeCa", "acmeEab", "https", "plainHttp"],
  ],
  [
    "The users of the dashboard",
    ["ownerEmail", "ownerPassword", "systemFrom", "requireSecondFactor"],
  ],
  [
    "How mail leaves",
    [
      "transport",
      "relayUrl",
      "fallbackRelayUrl",
      "requireVerifiedDomain",
      "sendRate",
      "dns",
      "directPort",
      "sourceAddresses",
      "allowPrivateAddresses",
    ],
  ],
  [
    "Bounces, complaints and campaigns",
    [
      "softBounceLimit",
      "softBounceDays",
      "softBounceSuppressDays",
      "campaignBounceLimit",
      "campaignComplaintLimit",
      "campaignLimitAfter",
    ],
  ],
  [
    "Mail that arrives over SMTP",
    ["submission", "submissions", "inbound", "smtpMaxBytes", "smtpTlsCert", "smtpTlsKey"],
  ],
  [
    "Catching mail for tests",
    [
      "captureSmtp",
      "captureAuth",
      "captureTls",
      "captureRecipients",
      "captureMaxRecipients",
      "captureMaxMessages",
      "captureMaxDays",
      "captureMaxBytes",
      "allowedHosts",
      "keylessPeers",
      "mailpitApi",
      "mailpitWebroot",
      "uiAuth",
      "sendApiAuth",
    ],
  ],
  [
    "Limits of requests and projects",
    [
      "apiRate",
      "publicKeyRate",
      "publicClientRate",
      "userRate",
      "trustedProxies",
      "quotaStorage",
      "quotaQueuedMails",
      "quotaJobs",
      "quotaWebhookCalls",
    ],
  ],
  [
    "What is kept, and for how long",
    ["retainBodies", "retainRaw", "retainEvents", "eventsTo", "durability"],
  ],
  [
    "Backups and updates",
    [
      "backupTo",
      "backupAt",
      "backupKeep",
      "s3Endpoint",
      "s3Region",
      "s3AccessKeyId",
      "s3SecretAccessKey",
      "updateCheck",
    ],
  ],
  [
    "Alerts",
    [
      "operatorEmail",
      "alertRelayUrl",
      "alertWebhook",
      "alertNtfy",
      "alertSlack",
      "heartbeatUrl",
      "heartbeatMinutes",
      "weeklyDigest",
    ],
  ],
  ["Agents, the log and figures", ["mcpChanges", "logLevel", "logFormat", "metrics"]],
];
