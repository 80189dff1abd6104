/**
 * SQLite clears the content that is removed from pages that stay in use (`secure_delete = FAST`,
 * db/open.ts), but not pages that become free, because each would have to be written. An erasure
 * clears these, too: a free page may be used again for something short, whose page would then keep
 * the rest.
 */

import type { App } from "../../core/app.ts";

/** Runs a part of a change during which pages that become free are cleared. */
export function clearingFreedPages<T>({ db }: App, part: () => T): T {
  db.sqlite.run("PRAGMA secure_delete = ON");
  try {
    return part();
  } finally {
    db.sqlite.run("PRAGMA secure_delete = FAST");
  }
}
