/**
 * Links to the files of mails. As those of Resend, they need no key and are valid for an hour: each has
 * a sealed token that names the file, so it opens this file only.
 */

import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { App } from "../../core/app.ts";
import { RESEND_PREFIX } from "../../http/resend-errors.ts";
import { isoTime } from "../../lib/clock.ts";
import { deriveKey, seal, unseal } from "../../lib/crypto.ts";
import { perApp } from "../../lib/per-app.ts";

export const DOWNLOAD_PATH = `${RESEND_PREFIX}/downloads`;

const VALID_MS = 60 * 60 * 1000;

const FileName = Type.Object({
  mail: Type.Union([Type.Literal("sent"), Type.Literal("received")]),
  projectSeq: Type.Integer(),
  mailId: Type.String(),
  /** The id of a file in the message; null for the message itself. */
  partId: Type.Union([Type.String(), Type.Null()]),
});
export type FileName = Static<typeof FileName>;

export type Download = { bytes: Uint8Array; headers: Record<string, string> };

const Sealed = Type.Object({ ...FileName.properties, until: Type.Integer() });

const linkKey = perApp(({ secret }: App) => deriveKey(secret, "resend-downloads"));

export function downloadLink(
  app: App,
  file: FileName,
): { download_url: string; expires_at: string } {
  const until = app.clock.now() + VALID_MS;
  const text = Buffer.from(JSON.stringify({ ...file, until }));
  const token = seal(linkKey(app), text).toString("base64url");
  return { download_url: `${app.url}${DOWNLOAD_PATH}/${token}`, expires_at: isoTime(until) };
}

/** The file that a link opens; null if this server did not make the link, or if it has expired. */
export function openDownload(app: App, token: string): FileName | null {
  const text = unseal(linkKey(app), Buffer.from(token, "base64url"));
  if (text === null) return null;
  const { until, ...file } = Value.Parse(Sealed, JSON.parse(text.toString()));
  return app.clock.now() < until ? file : null;
}
