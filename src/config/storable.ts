/**
 * The settings that owners may set in the dashboard, when a change there has an effect, and how the
 * values with secrets are shown.
 */

import { maskRelay, maskUrl } from "./kinds.ts";
import type { SettingName } from "./settings.ts";

/** The code reads `app.config` each time it needs one of these, so a change has an effect at once. */
const AT_ONCE = [
  "transport",
  "relayUrl",
  "fallbackRelayUrl",
  "sendRate",
  "quotaStorage",
  "quotaQueuedMails",
  "retainBodies",
  "retainRaw",
  "retainEvents",
  "systemFrom",
  "operatorEmail",
  "alertRelayUrl",
  "alertWebhook",
  "alertNtfy",
  "alertSlack",
  "heartbeatUrl",
  "heartbeatMinutes",
  "weeklyDigest",
] as const satisfies SettingName[];

/** These are read when the server starts. */
const AT_THE_NEXT_START = [
  "captureMaxMessages",
  "captureMaxDays",
  "captureMaxBytes",
  "apiRate",
  "publicKeyRate",
  "publicClientRate",
  "userRate",
  "quotaJobs",
  "quotaWebhookCalls",
  "campaignBounceLimit",
  "campaignComplaintLimit",
  "campaignLimitAfter",
  "softBounceLimit",
  "softBounceDays",
  "softBounceSuppressDays",
  "backupTo",
  "backupAt",
  "backupKeep",
  "s3Endpoint",
  "s3Region",
  "s3AccessKeyId",
  "s3SecretAccessKey",
  "eventsTo",
] as const satisfies SettingName[];

/**
 * The time at which a change in the dashboard takes effect; null if the setting cannot be set there.
 */
export function storable(name: SettingName): "at once" | "at the next start" | null {
  if (AT_ONCE.some((each) => each === name)) return "at once";
  return AT_THE_NEXT_START.some((each) => each === name) ? "at the next start" : null;
}

/**
 * The values of these contain secrets: they are stored sealed, and only the result of the function is
 * shown.
 */
const MASKS: { readonly [Name in SettingName]?: (text: string) => string } = {
  uiAuth: () => "***",
  sendApiAuth: () => "***",
  captureAuth: () => "***",
  relayUrl: maskRelay,
  fallbackRelayUrl: maskRelay,
  ownerPassword: () => "***",
  s3SecretAccessKey: () => "***",
  alertRelayUrl: maskRelay,
  alertWebhook: maskUrl,
  alertNtfy: maskUrl,
  alertSlack: maskUrl,
  heartbeatUrl: maskUrl,
  secret: () => "***",
};

/** Null if the values contain no secret. */
export const maskOf = (name: SettingName): ((text: string) => string) | null => MASKS[name] ?? null;
