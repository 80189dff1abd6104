/**
 * Finds a newer version, with `--update-check`. Once a day the server reads the signed list of the
 * newest release, from the same address for all servers: the request names neither this installation
 * nor its version. The answer counts only if the key of releases has signed it. Nothing is installed; the owner
 * is told, by the page System, the doctor and the metrics. A failure means that the server asks again a day later.
 */

import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { App } from "../core/app.ts";
import { readInstallationValue, storeInstallationValue } from "../db/installation-values.ts";
import type { Db } from "../db/open.ts";
import { deriveKey } from "../lib/crypto.ts";
import { describeError } from "../lib/log.ts";
import { isNewerVersion } from "../lib/release-names.ts";
import { VERSION } from "../lib/version.ts";
import {
  builtInReleaseKey,
  changesUrl,
  publishedRelease,
  readRelease,
  type ReadReleaseFile,
} from "../upgrade/release.ts";
import { UpgradeError } from "../upgrade/refusal.ts";
import type { Module } from "./module.ts";

const KnownRelease = Type.Object({
  /** Null if no release was found. */
  version: Type.Union([Type.String(), Type.Null()]),
  /** In milliseconds since the epoch. */
  askedAt: Type.Integer(),
});

export type KnownUpdate = {
  version: string;
  /** The page with the news of the release. */
  changesUrl: string;
};

/** Where a package or an image was installed, the command itself names the other way. */
export const UPGRADE_COMMAND = "mailstead upgrade";
const DAY_MS = 24 * 3_600_000;

/** The newer version that the server knows of; null if there is none, or if it has not asked. */
export function readKnownUpdate(db: Pick<Db, "sqlite">): KnownUpdate | null {
  const version = readKnownRelease(db)?.version ?? null;
  if (version === null || !isNewerVersion(version, VERSION)) return null;
  return { version, changesUrl: changesUrl(version) };
}

function readKnownRelease(db: Pick<Db, "sqlite">): Static<typeof KnownRelease> | null {
  const stored = readInstallationValue(db, "known_release");
  if (stored === null) return null;
  const value: unknown = JSON.parse(stored);
  return Value.Check(KnownRelease, value) ? value : null;
}

/** Asks for the newest release, unless it was asked within the last day. Never rejects because of the answer. */
export async function askForUpdate(app: App, publicKey: string): Promise<void> {
  const now = app.clock.now();
  const known = readKnownRelease(app.db);
  const age = now - (known?.askedAt ?? -Infinity);
  if (age >= 0 && age < DAY_MS) return;
  const version = (await newestVersion(app, publicKey)) ?? known?.version ?? null;
  const value = JSON.stringify({ version, askedAt: now });
  await app.writer.write(() => storeInstallationValue(app.db, "known_release", value));
}

/** Returns null if the answer is missing or not trusted. */
async function newestVersion(app: App, publicKey: string): Promise<string | null> {
  try {
    return (await readRelease(readPublished(app), publicKey)).version;
  } catch (error) {
    app.log.debug("the newest version is not known", { error: describeError(error) });
    return null;
  }
}

function readPublished({ fetchGuarded }: App): ReadReleaseFile {
  return async (name, maxBodyBytes) => {
    const url = `${publishedRelease(null)}/${name}`;
    const answer = await fetchGuarded(url, { method: "GET", maxBodyBytes });
    if (answer.status === 200 && !answer.isTruncated) return answer.body;
    throw new UpgradeError(`${url} answers with the status ${answer.status}, or too much.`);
  };
}

export function updateModule(app: App): Module {
  const publicKey = builtInReleaseKey();
  if (!app.config.updateCheck || publicKey === null) return { name: "updates" };
  // Installations ask at different minutes.
  const minute = deriveKey(app.secret, "update-check").readUInt32BE() % 60;
  return {
    name: "updates",
    recurring: [
      { name: "updates", pattern: `0 ${minute} * * * *`, run: () => askForUpdate(app, publicKey) },
    ],
  };
}
