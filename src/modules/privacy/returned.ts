/** Erased addresses that are stored again, because a contact gets them. */

import type { App } from "../../core/app.ts";
import { addSuppression, standingOfErased } from "../suppressions.ts";

/** Part of a change: suppresses the address for the reason that was kept, if there is one. */
export function suppressReturned(app: App, projectSeq: number, email: string): void {
  const standing = standingOfErased(app, projectSeq, email);
  if (standing === null || standing === "UNSUBSCRIBED") return;
  addSuppression(app, projectSeq, email, { reason: standing, at: app.clock.now() });
}
