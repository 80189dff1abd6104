/** Checks of sending: the transport, the relay, the DNS records of each domain, and the links. */

import type { Domain } from "../modules/domains/model.ts";
import type { Relay } from "../protocols/smtp/relay-url.ts";
import { findKnownRelay, isSignedThere, whyUnsigned } from "../protocols/smtp/known-relays.ts";
import { findingsOfBounceHost } from "./inbound.ts";
import { type Check, fail, type Finding, type FindingPage, ok, warn, type World } from "./check.ts";

export const checkRelay: Check = async ({ config, tryRelay }) => {
  const { transport, relayUrl, fallbackRelayUrl } = config;
  if (transport !== "relay" || relayUrl === null) return [];
  const first = await examineRelay(relayUrl, { kind: "relay", flag: "--relay-url" }, tryRelay);
  if (fallbackRelayUrl === null) return first;
  const names = { kind: "fallback relay", flag: "--fallback-relay-url" };
  return [...first, ...(await examineRelay(fallbackRelayUrl, names, tryRelay))];
};

async function examineRelay(
  relay: Relay,
  { kind, flag }: { kind: string; flag: string },
  tryRelay: World["tryRelay"],
): Promise<Finding[]> {
  const what = `${kind} ${relay.host}:${relay.port}`;
  const trial = await tryRelay(relay);
  if (!trial.ok) return onPage("server-settings", [fail(what, trial.reason, trial.fix)]);
  const login = trial.isAuthenticated ? "logged in" : "without a login";
  if (trial.tls === null) {
    const fix = `remove tls=none from ${flag} unless the relay is on this machine`;
    return [warn(what, `answers, ${login}, without TLS`, fix)];
  }
  return [ok(what, `answers, ${trial.tls}, ${login}`)];
}

/** Reports the known facts about the relay: who signs, its limits, and how it reports bounces. */
export const checkRelaySigning: Check = async ({ config }) => {
  const { transport, relayUrl } = config;
  const known = transport === "relay" && relayUrl !== null ? findKnownRelay(relayUrl.host) : null;
  if (relayUrl === null || known === null) return [];
  const what = `signatures with ${known.name}`;
  const why = whyUnsigned(known);
  const limit = known.limit === null ? "" : `; its limit: ${known.limit}`;
  const rest = `bounces are reported ${known.reports}${limit}`;
  if (!isSignedThere(relayUrl)) {
    if (why === null) return [ok(what, `our signatures reach the recipient; ${rest}`)];
    const fix = "write sign=false into --relay-url, or remove sign=true";
    return [warn(what, `it ${why}, which breaks our signatures or refuses the mail`, fix)];
  }
  const because = why === null ? "" : `, because it ${why}`;
  return [
    ok(
      what,
      `mail goes there without ours (sign=false)${because}; the relay signs once ${known.signing} is set up there; ${rest}`,
    ),
  ];
};

/** Reports the steps that the relay needs, until a report of the relay shows that it sends mail. */
export const checkRelayNeeds: Check = async ({ config, folder, reportSources }) => {
  const { transport, relayUrl } = config;
  const known = transport === "relay" && relayUrl !== null ? findKnownRelay(relayUrl.host) : null;
  if (known === null || known.needs.length === 0) return [];
  const sources = folder === null ? [] : await reportSources();
  const isProven = sources.some(
    ({ provider, lastReceivedAt }) => provider === known.name && lastReceivedAt !== null,
  );
  if (isProven) return [];
  return known.needs.map(({ what, finding, fix }) => warn(`${known.name}, ${what}`, finding, fix));
};

/** Whether the webhooks of the relay report to this server, or the mailbox of its account is read. */
export const checkRelayReports: Check = async (world) => {
  const { config, folder, reportSources, reportMailboxes } = world;
  const { transport, relayUrl } = config;
  const known = transport === "relay" && relayUrl !== null ? findKnownRelay(relayUrl.host) : null;
  if (known === null || folder === null) return [];
  if (known.isReportedByMail) return findMailboxOf(known.name, await reportMailboxes());
  if (known.idField === null) return [];
  const what = `reports of ${known.name}`;
  const sources = (await reportSources()).filter(({ provider }) => provider === known.name);
  if (sources.length === 0) {
    const finding = "its bounces, complaints and deliveries are not counted here";
    return onPage("relay-reports", [
      warn(what, finding, "set up its webhooks, as docs/relay-reports.md says"),
    ]);
  }
  const refusal = sources.find((source) => source.refusal !== null)?.refusal ?? null;
  if (refusal !== null) {
    const fix = "correct the webhook there, or its signing key here";
    return onPage("relay-reports", [warn(what, `the last one was refused: ${refusal}`, fix)]);
  }
  if (sources.every(({ lastReceivedAt }) => lastReceivedAt === null)) {
    const fix = "use the test of the provider, or send a mail";
    return onPage("relay-reports", [warn(what, "none has arrived yet", fix)]);
  }
  return [ok(what, "they arrive")];
};

function findMailboxOf(relay: string, mailboxes: readonly unknown[]): Finding[] {
  const what = `reports of ${relay}`;
  if (mailboxes.length > 0) return [ok(what, "a mailbox is read for them")];
  const finding =
    "its bounces come to the mailbox of the account that sends, and are not counted here";
  const fix = "add that mailbox, as docs/relay-reports.md says";
  return onPage("mailboxes", [warn(what, finding, fix)]);
}

const onPage = (page: FindingPage, findings: readonly Finding[]): Finding[] =>
  findings.map((finding) => ({ ...finding, page }));

/** Whether the mailboxes of reports can be read (docs/relay-reports.md#mailboxes). */
export const checkReportMailboxes: Check = async ({ folder, reportMailboxes }) => {
  if (folder === null) return [];
  const findings = (await reportMailboxes()).map(({ name, host, lastFetchedAt, failure }) => {
    const what = `mailbox ${name}`;
    if (failure !== null) {
      const fix = "test its login on the page Relay reports, and set its password anew";
      return warn(what, `${host} cannot be read: ${failure}`, fix);
    }
    if (lastFetchedAt !== null) return ok(what, "is read");
    return warn(what, "was not read yet", "start the server, which reads it at once");
  });
  return onPage("mailboxes", findings);
};

export const checkTransport: Check = async ({ config }) =>
  config.transport === "capture"
    ? onPage("server-settings", [
        warn("transport", "mail is captured, not sent", "set --transport relay or direct"),
      ])
    : [ok("transport", config.transport)];

export const checkLinks: Check = async ({ config }) => {
  const what = "links in mails";
  if (config.url === null) {
    const finding = `they lead to http://${config.host}:${config.port}`;
    return [
      warn(what, finding, "set --url to the public address, such as https://mail.example.com"),
    ];
  }
  return config.url.startsWith("https:")
    ? [ok(what, config.url)]
    : [
        warn(
          what,
          `${config.url} is without TLS`,
          "put a TLS proxy in front and set --url https://…",
        ),
      ];
};

export const checkDomains: Check = async (world) => {
  if (world.folder === null) return [];
  const domains = await world.domains();
  if (domains.length === 0) {
    return [
      warn("domains", "no domain can be used as a sender", "add one: mailstead domain add NAME"),
    ];
  }
  const isListening = world.config.inbound !== null;
  return domains.flatMap((domain) => [
    ...findingsOf(domain),
    ...findingsOfBounceHost(domain, isListening),
  ]);
};

function findingsOf(domain: Domain): Finding[] {
  // The domain was checked just now, so a pending record is one that the resolver did not answer.
  const unanswered = domain.records.filter(({ status }) => status === "PENDING");
  if (unanswered.length === 0) return [findingOfAnswered(domain)];
  const answered = {
    ...domain,
    records: domain.records.filter((some) => !unanswered.includes(some)),
  };
  const rest = [findingOfAnswered(answered)].filter(({ level }) => level !== "ok");
  return [notLookedUp(domain.domain, unanswered), ...rest];
}

function notLookedUp(domain: string, records: Domain["records"]): Finding {
  const names = records.map(recordName).join(", ");
  return warn(
    `domain ${domain}`,
    `its records could not be looked up: ${names}`,
    "find out why the DNS server does not answer, or name another one with --dns",
  );
}

function findingOfAnswered(domain: Domain): Finding {
  const what = `domain ${domain.domain}`;
  const wrong = domain.records.filter(({ status }) => status !== "OK");
  const names = wrong.map(recordFinding).join(", ");
  const fix = `publish the records that the page of the domain and mailstead domain records ${domain.domain} show`;
  const isKeyWrong = wrong.some(({ required }) => required);
  if (domain.status === "FAILED")
    return fail(what, withNames("may not be used as a sender", names), fix);
  if (isKeyWrong && domain.verified) {
    return fail(what, `our signatures do not verify: ${names}`, fix);
  }
  if (!domain.verified) return warn(what, withNames("not verified yet", names), fix);
  return wrong.length > 0 ? warn(what, names, fix) : ok(what, "all records are correct");
}

type DomainRecord = Domain["records"][number];

const FOUND: Readonly<Record<DomainRecord["status"], string>> = {
  OK: "is correct",
  MISMATCH: "is wrong",
  MISSING: "is missing",
  PENDING: "could not be looked up",
};

/** For example "the DKIM record (TXT) is missing". */
const recordFinding = (record: DomainRecord): string =>
  `${recordName(record)} ${FOUND[record.status]}`;

const recordName = ({ purpose, type, name }: DomainRecord): string =>
  `the ${purpose === "RETURN_PATH" ? "return path" : purpose} record ${name} (${type})`;

function withNames(finding: string, names: string): string {
  return names === "" ? finding : `${finding}: ${names}`;
}
