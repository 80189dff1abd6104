/** mailstead domain add | list */

import { isoTimeOrNull } from "../lib/clock.ts";
import { canonicalDomain } from "../mail/address.ts";
import type { DomainRow } from "../modules/domains/service.ts";
import { type Command, UsageError } from "./command.ts";
import { print, PROJECT_FLAG, STORE_SETTINGS, withStore } from "./store.ts";

export const domainAdd: Command = {
  name: "domain add",
  summary: "Let a project send from a domain",
  details: "With --verified it may be used at once: you say that you control it.",
  positionals: [{ name: "NAME", help: "Domain such as example.com" }],
  flags: [
    PROJECT_FLAG,
    { name: "verified", help: "Mark it as verified by your word, without looking at DNS" },
  ],
  settings: STORE_SETTINGS,
  run: (input) =>
    withStore(input, async ({ writer, domains, project }) => {
      const domain = canonicalDomain(input.positionals[0] ?? "");
      if (domain === null) throw new UsageError("NAME: expected a domain such as example.com");
      if (input.flags["verified"] === undefined) {
        throw new UsageError("--verified is needed: this version takes your word for a domain");
      }
      const row = await writer.write(domains.addVerified(project().seq, domain));
      return print(input, { domain: present(row) }, `${row.domain} may be used as a sender.`);
    }),
};

export const domainList: Command = {
  name: "domain list",
  summary: "List the sending domains of a project",
  positionals: [],
  flags: [PROJECT_FLAG],
  settings: STORE_SETTINGS,
  run: (input) =>
    withStore(input, async ({ domains, project }) => {
      const all = domains.list(project().seq);
      const human = all.map(({ domain, status }) => `${status.padEnd(8)}  ${domain}`).join("\n");
      return print(
        input,
        { domains: all.map(present) },
        human || "No domain yet. Add one: mailstead domain add NAME --verified",
      );
    }),
};

function present({ id, domain, status, verifiedAt }: DomainRow) {
  return { id, domain, status, verifiedAt: isoTimeOrNull(verifiedAt) };
}
