/** mailstead domain add | list | records | verify | remove */

import { createDns } from "../protocols/dns/client.ts";
import { systemDnsServers } from "../protocols/dns/servers.ts";
import { isoTime, isoTimeOrNull, systemClock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { silentLog } from "../lib/log.ts";
import { createDomainChecks } from "../modules/domains/check-worker.ts";
import { createLookUp, type Unanswered, unansweredOf } from "../modules/domains/dns-check.ts";
import { createLooks } from "../modules/domains/check-rows.ts";
import { parseSendingDomain } from "../modules/domains/name.ts";
import type { DomainRow } from "../modules/domains/service.ts";
import { type Command, type Flag, type Input, type SettingName, UsageError } from "./command.ts";
import { recordsText } from "./domain-text.ts";
import { print, PROJECT_FLAG, type Store, STORE_SETTINGS, withStore } from "./store.ts";

/** The records depend on how the server sends: give its settings here as well. */
const DOMAIN_SETTINGS: readonly SettingName[] = [
  ...STORE_SETTINGS,
  "transport",
  "relayUrl",
  "hostname",
  "sourceAddresses",
  "dns",
];
const SAME_SETTINGS =
  "The records depend on how the server sends: give the settings that serve gets.";
const OWNER_FLAG: Flag = { ...PROJECT_FLAG, help: "Only if it belongs to this project" };
const NAME = { name: "NAME", help: "Domain such as example.com" };

export const domainAdd: Command = {
  name: "domain add",
  summary: "Let a project send from a domain: makes its keys, shows its DNS records",
  details: `${SAME_SETTINGS}\nWith --verified it may be used at once: you say that you control it.`,
  positionals: [NAME],
  flags: [
    PROJECT_FLAG,
    { name: "verified", help: "Mark it as verified by your word, whatever the DNS says" },
  ],
  settings: DOMAIN_SETTINGS,
  run: (input) =>
    withStore(input, async ({ writer, domains, project, requireReadableKeys }) => {
      requireReadableKeys();
      const isByWord = input.flags["verified"] !== undefined;
      const domain = domainName(input);
      const add = await domains.add({ projectSeq: project().seq, domain, isByWord });
      const { row } = await writer.write(add);
      const shown = domains.present(row);
      return print(input, { domain: shown }, `${stateOf(row)}\n\n${recordsText(shown.records)}`);
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
      const all = domains.all(project().seq);
      const human = all.map(({ domain, status }) => `${status.padEnd(8)}  ${domain}`).join("\n");
      return print(
        input,
        { domains: all.map(summary) },
        human || "No domain yet. Add one: mailstead domain add NAME",
      );
    }),
};

export const domainRecords: Command = {
  name: "domain records",
  summary: "Show what to put into the DNS of a domain, and what was found there",
  details: SAME_SETTINGS,
  positionals: [NAME],
  flags: [OWNER_FLAG],
  settings: DOMAIN_SETTINGS,
  run: (input) =>
    withStore(input, async (store) => {
      store.requireReadableKeys();
      const { records } = store.domains.present(rowOf(input, store));
      return print(input, { records }, recordsText(records));
    }),
};

export const domainVerify: Command = {
  name: "domain verify",
  summary: "Look at the DNS of a domain now; exit 1 if it is not verified, or nobody could say",
  details: SAME_SETTINGS,
  positionals: [NAME],
  flags: [OWNER_FLAG],
  settings: DOMAIN_SETTINGS,
  run: (input) => withStore(input, (store) => verify(input, store)),
};

export const domainRemove: Command = {
  name: "domain remove",
  summary: "Remove a domain with its keys; nothing may send from it any more",
  positionals: [NAME],
  flags: [OWNER_FLAG],
  settings: STORE_SETTINGS,
  run: (input) =>
    withStore(input, async (store) => {
      const { projectSeq, id, domain } = rowOf(input, store);
      await store.writer.write(store.domains.remove(projectSeq, id));
      return print(input, { removed: domain }, `${domain} is removed.`);
    }),
};

async function verify(input: Input, store: Store): Promise<number> {
  store.requireReadableKeys();
  const { config, db, domains, writer } = store;
  const clock = systemClock;
  const dns = createDns({ servers: config.dns ?? systemDnsServers(), clock });
  const looks = createLooks({ db, clock });
  const lookUp = createLookUp(dns);
  const checks = createDomainChecks({ domains, looks, lookUp, writer, clock, log: silentLog });
  const { projectSeq, id } = rowOf(input, store);
  const look = await checks.check(await writer.write(domains.askForLook(projectSeq, id)));
  dns.close();
  const row = domains.get(projectSeq, id);
  const shown = domains.present(row);
  const unanswered = unansweredOf(look);
  const isKeyUnknown = unanswered.some(({ record }) => record.required);
  const state = isKeyUnknown ? unknownState(row) : stateOf(row);
  print(
    input,
    { domain: shown, unanswered: unanswered.map(unansweredFields) },
    `${state}\n\n${recordsText(shown.records, unanswered)}`,
  );
  return shown.verified && !isKeyUnknown ? 0 : 1;
}

function unansweredFields({ record: { purpose, type, name, required }, reason }: Unanswered) {
  return { purpose, type, name, required, reason };
}

/** Silence changes nothing: what was known stays, and is said to be old. */
function unknownState(row: DomainRow): string {
  const { domain, lastCheckedAt } = row;
  const nobody = `The key of ${domain} could not be looked up: the resolver gave no answer.`;
  return lastCheckedAt === null
    ? `${nobody} Nothing is known of its records yet.`
    : `${nobody} As of ${isoTime(lastCheckedAt)}: ${stateOf(row)}`;
}

function rowOf(input: Input, { domains, project }: Store): DomainRow {
  const domain = domainName(input);
  const isNamed = input.flags["project"] !== undefined;
  const row = isNamed ? domains.find(project().seq, domain) : domains.findByName(domain);
  if (row !== null) return row;
  const where = isNamed ? "The project has" : "There is";
  throw new AppError(404, "DOMAIN_NOT_FOUND", `${where} no domain ${domain}.`, {
    suggestion: "List the domains of a project: mailstead domain list",
  });
}

function domainName(input: Input): string {
  const parsed = parseSendingDomain(input.positionals[0] ?? "");
  if (!parsed.ok) throw new UsageError(`NAME: ${parsed.reason}`);
  return parsed.domain;
}

function stateOf({ domain, status, isByWord, failingSince }: DomainRow): string {
  if (status === "PENDING") {
    return `${domain} is not verified yet. Put these records into its DNS; the server looks again.`;
  }
  if (status === "FAILED") return `${domain} may not send any more: its key is gone from the DNS.`;
  if (isByWord) return `${domain} may be used as a sender: by your word.`;
  return failingSince === null
    ? `${domain} may be used as a sender.`
    : `${domain} may still be used as a sender, but its key is gone from the DNS.`;
}

function summary({ id, domain, status, verifiedAt, lastCheckedAt }: DomainRow) {
  return {
    id,
    domain,
    status,
    verifiedAt: isoTimeOrNull(verifiedAt),
    lastCheckedAt: isoTimeOrNull(lastCheckedAt),
  };
}
