/** The commands `mailstead domain add`, `list`, `records`, `verify` and `remove`. */

import { resolve } from "node:path";
import { createDns } from "../protocols/dns/client.ts";
import { systemDnsServers } from "../protocols/dns/servers.ts";
import { isoTime, isoTimeOrNull, systemClock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { checkDomain } from "../modules/domains/checks.ts";
import { type Unanswered, unansweredOf } from "../modules/domains/dns-check.ts";
import {
  domainPresenter,
  type DomainRow,
  domainsOfProject,
  findDomain,
  findInAllProjects,
  getDomain,
  prepareDomain,
  removeDomain,
  requestCheck,
} from "../modules/domains/domains.ts";
import type { OwnKey } from "../modules/domains/own-key.ts";
import { recordCommand } from "./audit.ts";
import { type Command, type Flag, type Input, UsageError } from "./command.ts";
import type { SettingName } from "../config/settings.ts";
import { recordsText } from "./domain-text.ts";
import {
  print,
  PROJECT_FLAG,
  RECORD_SETTINGS,
  type Store,
  STORE_SETTINGS,
  withStore,
} from "./store.ts";

/**
 * The DNS records depend on how the server sends, so these commands accept its settings as well.
 */
const DOMAIN_SETTINGS: readonly SettingName[] = [...STORE_SETTINGS, ...RECORD_SETTINGS, "dns"];
const SAME_SETTINGS =
  "The records depend on how the server sends. The server stores that when it starts, and this\n" +
  "command uses it. Before the first start, give the settings that serve will have.";
const OWNER_FLAG: Flag = { ...PROJECT_FLAG, help: "Only a domain of this project" };
const NAME = { name: "NAME", help: "Domain such as example.com" };

export const domainAdd: Command = {
  name: "domain add",
  summary: "Add a domain to a project: creates its keys and shows its DNS records",
  details:
    `${SAME_SETTINGS}\nWith --dkim-key the domain keeps the key that is published already, so that its DNS\n` +
    `need not change. The key is compared with the DNS, or with --dkim-record.\nWith --verified the domain may be used at once: you confirm that you control it.`,
  positionals: [NAME],
  flags: [
    PROJECT_FLAG,
    { name: "verified", help: "Mark it as verified, independently of its DNS records" },
    {
      name: "dkim-key",
      placeholder: "FILE",
      help: "Private key in PEM that signs its mail already",
    },
    { name: "dkim-selector", placeholder: "NAME", help: "Selector of this key" },
    {
      name: "dkim-record",
      placeholder: "TEXT",
      help: "TXT record of this key, instead of the DNS",
    },
  ],
  settings: DOMAIN_SETTINGS,
  run: (input) =>
    withStore(input, async (store) => {
      const { writer, project, requireReadableKeys } = store;
      requireReadableKeys();
      const isDeclaredVerified = input.flags["verified"] !== undefined;
      const domain = await domainName(input);
      const ownKey = await ownKeyOf(input, store, domain);
      const add = await prepareDomain(store, {
        projectSeq: project().seq,
        domain,
        isDeclaredVerified,
        ownKey,
      });
      const row = await writer.write(() => {
        const added = add().row;
        recordCommand(store, "domain add", { projectSeq: added.projectSeq, objectId: added.id });
        return added;
      });
      const shown = (await domainPresenter(store))(row);
      return print(input, { domain: shown }, `${stateOf(row)}\n\n${recordsText(shown.records)}`);
    }),
};

/** The key of --dkim-key; undefined without it. */
async function ownKeyOf(
  { flags, io }: Input,
  store: Store,
  domain: string,
): Promise<OwnKey | undefined> {
  const { "dkim-key": file, "dkim-selector": selector, "dkim-record": record = null } = flags;
  if (file === undefined && selector === undefined && record === null) return undefined;
  if (file === undefined || selector === undefined) {
    throw new UsageError("--dkim-key and --dkim-selector belong together");
  }
  // Loaded only with a key.
  const { readOwnKey } = await import("../modules/domains/own-key.ts");
  const privateKey = await readKeyFile(resolve(io.cwd, file));
  const dns = createDns({
    servers: store.config.dns ?? systemDnsServers(),
    clock: systemClock,
  });
  try {
    return await readOwnKey({ ...store, dns }, domain, { selector, privateKey, record });
  } finally {
    dns.close();
  }
}

async function readKeyFile(path: string): Promise<string> {
  try {
    return await Bun.file(path).slice(0, LONGEST_KEY_FILE).text();
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    throw new UsageError(`--dkim-key: ${path} cannot be read: ${error.message}`);
  }
}

/** A key of RSA with 4096 bits takes 3,300 characters. */
const LONGEST_KEY_FILE = 10_000;

export const domainList: Command = {
  name: "domain list",
  summary: "List the sending domains of a project",
  positionals: [],
  flags: [PROJECT_FLAG],
  settings: STORE_SETTINGS,
  run: (input) =>
    withStore(input, async (store) => {
      const all = domainsOfProject(store, store.project().seq);
      const human = all.map(({ domain, status }) => `${status.padEnd(8)}  ${domain}`).join("\n");
      return print(
        input,
        { domains: all.map(summary) },
        human || "There is no domain yet. Add one: mailstead domain add NAME",
      );
    }),
};

export const domainRecords: Command = {
  name: "domain records",
  summary: "Show the DNS records that a domain needs, and what was found in the DNS",
  details: SAME_SETTINGS,
  positionals: [NAME],
  flags: [OWNER_FLAG],
  settings: DOMAIN_SETTINGS,
  run: (input) =>
    withStore(input, async (store) => {
      store.requireReadableKeys();
      const present = await domainPresenter(store);
      const { records } = present(await rowOf(input, store));
      return print(input, { records }, recordsText(records));
    }),
};

export const domainVerify: Command = {
  name: "domain verify",
  summary: "Check the DNS of a domain now; exit 1 if it is not verified or the DNS did not answer",
  details: SAME_SETTINGS,
  positionals: [NAME],
  flags: [OWNER_FLAG],
  settings: DOMAIN_SETTINGS,
  run: (input) => withStore(input, (store) => verify(input, store)),
};

export const domainRemove: Command = {
  name: "domain remove",
  summary: "Remove a domain with its keys; mail from it is then refused",
  positionals: [NAME],
  flags: [OWNER_FLAG],
  settings: STORE_SETTINGS,
  run: (input) =>
    withStore(input, async (store) => {
      const { projectSeq, id, domain } = await rowOf(input, store);
      await store.writer.write(() => {
        recordCommand(store, "domain remove", { projectSeq, objectId: id });
        removeDomain(store, projectSeq, id);
      });
      return print(input, { removed: domain }, `${domain} is removed.`);
    }),
};

async function verify(input: Input, store: Store): Promise<number> {
  store.requireReadableKeys();
  const { config, writer } = store;
  const dns = createDns({ servers: config.dns ?? systemDnsServers(), clock: systemClock });
  const { projectSeq, id } = await rowOf(input, store);
  const requested = await writer.write(() => requestCheck(store, projectSeq, id));
  const { found: check } = await checkDomain({ ...store, dns }, requested);
  dns.close();
  const row = getDomain(store, projectSeq, id);
  const shown = (await domainPresenter(store))(row);
  const unanswered = unansweredOf(check);
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

/** A failed look-up changes nothing, so the text shows the last known state and its time. */
function unknownState(row: DomainRow): string {
  const { domain, lastCheckedAt } = row;
  const failure = `The key of ${domain} could not be looked up: the resolver did not answer.`;
  return lastCheckedAt === null
    ? `${failure} Its records have never been checked.`
    : `${failure} State at ${isoTime(lastCheckedAt)}: ${stateOf(row)}`;
}

async function rowOf(input: Input, store: Store): Promise<DomainRow> {
  const domain = await domainName(input);
  const isNamed = input.flags["project"] !== undefined;
  if (isNamed) {
    const own = findDomain(store, store.project().seq, domain);
    if (own !== null) return own;
  } else {
    const [row, other] = findInAllProjects(store, domain);
    if (other !== undefined) throw new UsageError(`several projects have ${domain}: add --project`);
    if (row !== undefined) return row;
  }
  const where = isNamed ? "The project has" : "There is";
  throw new AppError(404, "DOMAIN_NOT_FOUND", `${where} no domain ${domain}.`, {
    suggestion: "List the domains of a project: mailstead domain list",
  });
}

async function domainName(input: Input): Promise<string> {
  // Loaded only by these commands, because the list of public suffixes takes 4 ms and 6 MiB.
  const { parseSendingDomain } = await import("../modules/domains/name.ts");
  const parsed = parseSendingDomain(input.positionals[0] ?? "");
  if (!parsed.ok) throw new UsageError(`NAME: ${parsed.reason}`);
  return parsed.domain;
}

function stateOf({ domain, status, isDeclaredVerified, failingSince }: DomainRow): string {
  if (status === "PENDING") {
    return `${domain} is not verified yet. Add these records to its DNS; the server checks again.`;
  }
  if (status === "FAILED") {
    return `${domain} may no longer be used as a sender: its key is missing in the DNS.`;
  }
  if (isDeclaredVerified)
    return `${domain} may be used as a sender, because you confirmed that you control it.`;
  return failingSince === null
    ? `${domain} may be used as a sender.`
    : `${domain} may still be used as a sender, but its key is missing in the DNS.`;
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
