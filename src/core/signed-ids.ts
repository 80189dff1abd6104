/**
 * Opens the signed ids of emails in links and addresses: with the keys of this installation, or with those
 * of another one from which the project of the email came.
 */

import { readFormerSecrets } from "../db/former-secrets.ts";
import { statement } from "../db/statement.ts";
import { deriveKey } from "../lib/crypto.ts";
import { perApp } from "../lib/per-app.ts";
import type { App } from "./app.ts";

type LinkKeys = Pick<App, "linkKey" | "trackingKey" | "returnPathKey">;

export function linkKeysOf(secret: string): LinkKeys {
  return {
    linkKey: deriveKey(secret, "recipient-links"),
    trackingKey: deriveKey(secret, "tracking-links"),
    returnPathKey: deriveKey(secret, "return-paths"),
  };
}

/** Projects arrive while the server is stopped, so this is read once. */
const formerKeys = perApp(({ db, secret }: App) =>
  readFormerSecrets(db, secret).map((former) => ({
    projectId: former.projectId,
    keys: linkKeysOf(former.secret),
  })),
);

const isMailOf = statement<{ found: number }, [string, string]>(`
  SELECT EXISTS (SELECT 1 FROM emails e JOIN projects p ON p.seq = e.project_seq
                 WHERE e.id = +? AND p.id = +?) AS found`);

/**
 * The result of `open` with the keys of this installation or, for its own mails only, of a former one.
 */
export function openSigned<T extends { emailId: string }>(
  app: App,
  open: (keys: LinkKeys) => T | null,
): T | null {
  const opened = open(app);
  if (opened !== null) return opened;
  for (const { projectId, keys } of formerKeys(app)) {
    const found = open(keys);
    if (found !== null && isMailOf(app).get(found.emailId, projectId)?.found === 1) return found;
  }
  return null;
}

/** Like `openSigned`, for functions that open an id alone. */
export function openSignedId(app: App, open: (keys: LinkKeys) => string | null): string | null {
  const opened = openSigned(app, (keys) => {
    const emailId = open(keys);
    return emailId === null ? null : { emailId };
  });
  return opened?.emailId ?? null;
}
