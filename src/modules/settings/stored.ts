/** The settings that owners have set in the dashboard, as rows of the table installation_settings. */

import { eq } from "drizzle-orm";
import { ConfigError, type GivenSettings, type StoredTexts } from "../../config/read.ts";
import { SETTING_NAMES, type SettingName, SETTINGS } from "../../config/settings.ts";
import { maskOf } from "../../config/setting-masks.ts";
import type { App } from "../../core/app.ts";
import type { Db } from "../../db/open.ts";
import { installationSettings } from "../../db/schema/installation-settings.ts";
import { deriveKey, seal, unseal } from "../../lib/crypto.ts";

export type StoredSetting = typeof installationSettings.$inferSelect;

const sealingKey = (secret: string): Buffer => deriveKey(secret, "installation-settings");

const NAMES: ReadonlyMap<string, SettingName> = new Map(
  SETTING_NAMES.map((name) => [SETTINGS[name].flag, name]),
);

/** The setting of a flag such as "send-rate"; null if there is none. */
export const settingNamed = (flag: string): SettingName | null => NAMES.get(flag) ?? null;

/** All rows, by the name of the flag. There are at most as many as settings. */
export function storedSettings({ db }: { db: Db }): ReadonlyMap<string, StoredSetting> {
  const rows = db.select().from(installationSettings).limit(SETTING_NAMES.length).all();
  return new Map(rows.map((row) => [row.name, row]));
}

/**
 * The values for `SettingSources.withStored`, without those that are given elsewhere. Throws ConfigError
 * if a value was sealed with another secret.
 */
export function readStoredTexts(
  store: { db: Db; secret: string },
  given: GivenSettings = {},
): StoredTexts {
  const texts: Partial<Record<SettingName, string>> = {};
  for (const row of storedSettings(store).values()) {
    const name = settingNamed(row.name);
    if (name === null || given[name] !== undefined || row.value === null) continue;
    texts[name] = openText(store.secret, row);
  }
  return texts;
}

function openText(secret: string, { name, value, sealed }: StoredSetting): string {
  if (sealed === null) return value ?? "";
  const opened = unseal(sealingKey(secret), sealed);
  if (opened !== null) return opened.toString();
  throw new ConfigError(
    `${name} was set in the dashboard with another installation secret: put the old file “secret” ` +
      `back, or give --${name}`,
  );
}

/** Part of a change: stores the value of a setting, or resets it with null. Returns the new row. */
export function storeSetting(
  { db, secret, clock }: Pick<App, "db" | "secret" | "clock">,
  name: SettingName,
  { text, userId }: { text: string | null; userId: string | null },
): StoredSetting {
  const { flag } = SETTINGS[name];
  const mask = maskOf(name);
  const isSealed = mask !== null && text !== null;
  const known = storedSettings({ db }).get(flag);
  const row: StoredSetting = {
    name: flag,
    value: isSealed ? mask(text) : text,
    sealed: isSealed ? seal(sealingKey(secret), Buffer.from(text)) : null,
    revision: (known?.revision ?? 0) + 1,
    updatedAt: clock.now(),
    updatedBy: userId,
  };
  db.delete(installationSettings).where(eq(installationSettings.name, flag)).run();
  db.insert(installationSettings).values(row).run();
  return row;
}
