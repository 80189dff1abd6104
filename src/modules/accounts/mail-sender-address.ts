/** Finds the sender of the mails of the product. */

import type { Config } from "../../config/settings.ts";
import { domainOf } from "../../protocols/mime/address.ts";
import type { ProjectRow } from "../projects.ts";
import type { FindSender } from "./account-mails.ts";

/**
 * Returns the sender of `--system-from`, or the default sender of the first of the given projects
 * whose domain is verified. Null if there is none, or if the server captures mail.
 */
export function createFindSender(deps: {
  config: Pick<Config, "transport" | "systemFrom">;
  listProjects: () => readonly ProjectRow[];
  isSenderVerified: (projectSeq: number, domain: string) => boolean;
}): FindSender {
  const { transport, systemFrom } = deps.config;
  return (projectSeqs) => {
    if (transport === "capture") return null;
    if (systemFrom !== null) return systemFrom;
    for (const { seq, fromAddress, fromName } of deps.listProjects()) {
      if (fromAddress === null || !projectSeqs.includes(seq)) continue;
      if (!deps.isSenderVerified(seq, domainOf(fromAddress))) continue;
      return { address: fromAddress, name: fromName };
    }
    return null;
  };
}
