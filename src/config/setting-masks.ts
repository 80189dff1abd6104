/**
 * The settings whose values contain secrets: they are stored sealed, and only the result of the function
 * is shown.
 */

import { maskRelay, maskUrl } from "./kinds.ts";
import type { SettingName } from "./settings.ts";

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
