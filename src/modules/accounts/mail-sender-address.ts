/** Finds the sender of the mails of the product. */

import type { App } from "../../core/app.ts";
import { domainOf } from "../../protocols/mime/address.ts";
import { isSenderVerified } from "../domains/domains.ts";
import { listProjects } from "../projects.ts";
import type { FindSender } from "./account-mails.ts";

/**
 * Returns the sender of `--system-from`, or the default sender of the first of the given projects
 * whose domain is verified. Null if there is none, or if the server captures mail.
 */
export function findSenderOf(app: App): FindSender {
  return (projectSeqs) => {
    const { transport, systemFrom } = app.config;
    if (transport === "capture") return null;
    if (systemFrom !== null) return systemFrom;
    for (const { seq, fromAddress, fromName } of listProjects(app)) {
      if (fromAddress === null || !projectSeqs.includes(seq)) continue;
      if (!isSenderVerified(app, seq, domainOf(fromAddress))) continue;
      return { address: fromAddress, name: fromName };
    }
    return null;
  };
}
