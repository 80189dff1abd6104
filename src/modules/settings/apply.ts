/**
 * Uses the settings of the dashboard. A setting that is marked so in config/settings.ts takes effect at
 * once: `app.config` is replaced, and another transport is put in use if mail has to leave otherwise.
 * The other ones are read at the next start.
 */

import { type Config, SETTING_NAMES } from "../../config/settings.ts";
import { storable } from "../../config/setting-subjects.ts";
import type { App } from "../../core/app.ts";
import { perApp } from "../../lib/per-app.ts";
import { replaceSending } from "../sending.ts";
import { readStoredTexts } from "./stored.ts";

const AT_ONCE = SETTING_NAMES.filter((name) => storable(name) === "at once");
const OF_SENDING = [
  "transport",
  "relayUrl",
  "fallbackRelayUrl",
  "sendRate",
] as const satisfies (keyof Config)[];

/** The settings as the next start will read them. Throws ConfigError. */
export const nextConfig = (app: App): Config =>
  app.settings.withStored(readStoredTexts(app, app.settings.given));

/** The settings of this process after those are applied that take effect at once. */
export function appliedConfig(app: App, next: Config): Config {
  const changed = AT_ONCE.map((name) => [name, next[name]]);
  return Object.freeze({ ...app.config, ...Object.fromEntries(changed) });
}

const queue = perApp((): { last: Promise<void> } => ({ last: Promise.resolve() }));

/** To be called when a change of the stored settings is on disk. Changes are applied one by one. */
export function applySettings(app: App): Promise<void> {
  const applying = queue(app).last.then(() => applyNow(app));
  queue(app).last = applying.catch(() => {}); // The caller gets the error.
  return applying;
}

async function applyNow(app: App): Promise<void> {
  const config = appliedConfig(app, nextConfig(app));
  const isSame = OF_SENDING.every((name) => Bun.deepEquals(config[name], app.config[name]));
  if (isSame) app.config = config;
  else await replaceSending(app, config);
}
