/**
 * The settings of the server that commands beside it need: the base of its links, the values in the
 * DNS records of sending domains, and how long data is kept. The server stores them when it starts,
 * so that a command without flags shows the same links and records as the server, and checks a value
 * as the server does.
 */

import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Config } from "./config/settings.ts";
import { readInstallationValue, storeInstallationValue } from "./db/installation-values.ts";
import type { Db } from "./db/open.ts";
import { linkBase } from "./installation.ts";
import { installationOf } from "./modules/domains/records.ts";

const Settings = Type.Object({
  url: Type.String(),
  installation: Type.Object({
    mode: Type.Union([Type.Literal("relay"), Type.Literal("direct")]),
    hostname: Type.String(),
    addresses: Type.Array(Type.String()),
    relayHost: Type.Union([Type.String(), Type.Null()]),
    fallbackHost: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  }),
  /** Days; 0 for good. */
  retention: Type.Object({
    retainBodies: Type.Integer(),
    retainRaw: Type.Integer(),
    retainEvents: Type.Integer(),
  }),
});

export type StoredSettings = Static<typeof Settings>;

export function storedSettingsOf(config: Config): StoredSettings {
  const { addresses, ...installation } = installationOf(config);
  const { retainBodies, retainRaw, retainEvents } = config;
  return {
    url: linkBase(config),
    installation: { ...installation, addresses: [...addresses] },
    retention: { retainBodies, retainRaw, retainEvents },
  };
}

/** Stores the settings of a server that starts. Runs before the writer is used. */
export function rememberSettings(db: Pick<Db, "sqlite">, config: Config): void {
  const settings = JSON.stringify(storedSettingsOf(config));
  if (readInstallationValue(db, "server") === settings) return;
  storeInstallationValue(db, "server", settings);
}

/** The settings of the last server; null if none has run, or if another version has stored them. */
export function readStoredSettings(db: Pick<Db, "sqlite">): StoredSettings | null {
  const stored = readInstallationValue(db, "server");
  if (stored === null) return null;
  const settings: unknown = JSON.parse(stored);
  return Value.Check(Settings, settings) ? settings : null;
}
