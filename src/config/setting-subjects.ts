/**
 * The settings by subject, in the order in which help, docs/configuration.md and the dashboard list them,
 * each with the time at which a change in the dashboard has an effect.
 */

import type { SettingName } from "./settings.ts";

type Effect = "at once" | "at the next start" | null;

/** The code reads `app.config` each time it needs the setting. */
const AT_ONCE = "at once";
/** The setting is read when the server starts. */
const AT_START = "at the next start";
/** The setting cannot be set in the dashboard. */
const NEVER = null;

export const SETTING_SUBJECTS: readonly (readonly [
  subject: string,
  settings: readonly (readonly [name: SettingName, effect: Effect])[],
])[] = [
  [
    "Where the server is",
    [
      ["data", NEVER],
      ["host", NEVER],
      ["port", NEVER],
      ["url", NEVER],
      ["trackingUrl", NEVER],
      ["hostname", NEVER],
      ["secret", NEVER],
    ],
  ],
  [
    "HTTPS",
    [
      ["tls", NEVER],
      ["tlsCert", NEVER],
      ["tlsKey", NEVER],
      ["acmeDirectory", NEVER],
      ["acmeCa", NEVER],
      ["acmeEab", NEVER],
      ["https", NEVER],
      ["plainHttp", NEVER],
    ],
  ],
  [
    "The users of the dashboard",
    [
      ["ownerEmail", NEVER],
      ["ownerPassword", NEVER],
      ["systemFrom", AT_ONCE],
      ["requireSecondFactor", NEVER],
    ],
  ],
  [
    "How mail leaves",
    [
      ["transport", AT_ONCE],
      ["relayUrl", AT_ONCE],
      ["fallbackRelayUrl", AT_ONCE],
      ["requireVerifiedDomain", NEVER],
      ["sendRate", AT_ONCE],
      ["dns", NEVER],
      ["directPort", NEVER],
      ["sourceAddresses", NEVER],
      ["allowPrivateAddresses", NEVER],
    ],
  ],
  [
    "Bounces, complaints and campaigns",
    [
      ["softBounceLimit", AT_START],
      ["softBounceDays", AT_START],
      ["softBounceSuppressDays", AT_START],
      ["campaignBounceLimit", AT_START],
      ["campaignComplaintLimit", AT_START],
      ["campaignLimitAfter", AT_START],
    ],
  ],
  [
    "Mail that arrives over SMTP",
    [
      ["submission", NEVER],
      ["submissions", NEVER],
      ["inbound", NEVER],
      ["smtpMaxBytes", NEVER],
      ["smtpTlsCert", NEVER],
      ["smtpTlsKey", NEVER],
    ],
  ],
  [
    "Catching mail for tests",
    [
      ["captureSmtp", NEVER],
      ["captureAuth", NEVER],
      ["captureTls", NEVER],
      ["captureRecipients", NEVER],
      ["captureMaxRecipients", NEVER],
      ["captureMaxMessages", AT_START],
      ["captureMaxDays", AT_START],
      ["captureMaxBytes", AT_START],
      ["allowedHosts", NEVER],
      ["keylessPeers", NEVER],
      ["mailpitApi", NEVER],
      ["mailpitWebroot", NEVER],
      ["uiAuth", NEVER],
      ["sendApiAuth", NEVER],
    ],
  ],
  [
    "Limits of requests and projects",
    [
      ["apiRate", AT_START],
      ["publicKeyRate", AT_START],
      ["publicClientRate", AT_START],
      ["userRate", AT_START],
      ["trustedProxies", NEVER],
      ["quotaStorage", AT_ONCE],
      ["quotaQueuedMails", AT_ONCE],
      ["quotaJobs", AT_START],
      ["quotaWebhookCalls", AT_START],
    ],
  ],
  [
    "What is kept, and for how long",
    [
      ["retainBodies", AT_ONCE],
      ["retainRaw", AT_ONCE],
      ["retainEvents", AT_ONCE],
      ["eventsTo", AT_START],
      ["durability", NEVER],
    ],
  ],
  [
    "Backups and updates",
    [
      ["backupTo", AT_START],
      ["backupAt", AT_START],
      ["backupKeep", AT_START],
      ["s3Endpoint", AT_START],
      ["s3Region", AT_START],
      ["s3AccessKeyId", AT_START],
      ["s3SecretAccessKey", AT_START],
      ["updateCheck", NEVER],
    ],
  ],
  [
    "Alerts",
    [
      ["operatorEmail", AT_ONCE],
      ["alertRelayUrl", AT_ONCE],
      ["alertWebhook", AT_ONCE],
      ["alertNtfy", AT_ONCE],
      ["alertSlack", AT_ONCE],
      ["heartbeatUrl", AT_ONCE],
      ["heartbeatMinutes", AT_ONCE],
      ["weeklyDigest", AT_ONCE],
    ],
  ],
  [
    "Agents, the log and figures",
    [
      ["mcpChanges", NEVER],
      ["logLevel", NEVER],
      ["logFormat", NEVER],
      ["metrics", NEVER],
    ],
  ],
];

const EFFECTS: ReadonlyMap<SettingName, Effect> = new Map(
  SETTING_SUBJECTS.flatMap(([, settings]) => settings),
);

/**
 * The time at which a change in the dashboard takes effect; null if the setting cannot be set there.
 */
export const storable = (name: SettingName): Effect => EFFECTS.get(name) ?? null;
