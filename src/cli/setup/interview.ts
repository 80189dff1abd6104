/**
 * The questions of setup, in order: the host name, the sending domain and its project, the owner, the
 * way out and its relay, TLS, the listeners for SMTP, and backups. Each answer is examined on this
 * machine before the next question.
 */

import { isIP } from "node:net";
import { SETTINGS } from "../../config/settings.ts";
import {
  type Relay,
  formatRelayUrl,
  isLoopback,
  parseRelayUrl,
} from "../../protocols/smtp/relay-url.ts";
import { UsageError } from "../command.ts";
import {
  answerTo,
  type Checked,
  checkChoice,
  checkDomainName,
  checkEmail,
  checkHostName,
  checkOptional,
  checkProjectName,
  checkSender,
  checkSetting,
  currentOrNone,
  currentSetting,
  givenFlag,
  readOwnerPassword,
  readSecretFile,
} from "./answers.ts";
import type { SetupContext } from "./context.ts";
import { findHostAddresses } from "./dns-watch.ts";
import type { KnownInstallation } from "./installation.ts";
import { findConflict, isOwnListener } from "./listening-ports.ts";
import type { SettingTexts } from "./plan.ts";
import { tryRelaySession } from "./relay-trial.ts";
import type { SetupNetwork } from "./network.ts";

export type Answers = {
  hostname: string;
  domain: string;
  project: string;
  /** The default sender of the project. */
  from: string;
  ownerEmail: string;
  ownerPassword: string | null;
  /** Null unless mail leaves through a relay. */
  relayUrl: string | null;
  settings: SettingTexts;
};

export async function interview(
  setup: SetupContext,
  known: KnownInstallation,
  network: SetupNetwork,
): Promise<Answers> {
  const hostname = await askHostName(setup, network);
  const { domain, project, from } = await askSender(setup, known, hostname);
  const ownerEmail = await answerTo(setup, {
    flag: "owner-email",
    text: "Email address of the owner, who signs in to the dashboard",
    current: known.owners[0]?.email ?? null,
    check: checkEmail,
  });
  const ownerPassword = readOwnerPassword(setup, ownerEmail);
  const transport = await askTransport(setup, network);
  const relayUrl = transport === "relay" ? await askRelay(setup, hostname) : null;
  const web = await askTls(setup, hostname);
  const smtp = await askListeners(setup, { transport, hasTls: web["tls"] !== "off" });
  const backupTo = await askBackups(setup);
  const asked: Record<string, string | null> = {
    hostname,
    transport,
    ...web,
    ...smtp,
    ...backupTo,
  };
  // Other settings of the server, such as --metrics, are written as they were given.
  for (const [flag, text] of Object.entries(setup.input.settings)) {
    if (!ANSWERED.includes(flag) && asked[flag] === undefined) asked[flag] = text;
  }
  return { hostname, domain, project, from, ownerEmail, ownerPassword, relayUrl, settings: asked };
}

/** Settings that are written elsewhere than into the environment file. */
const ANSWERED: readonly string[] = [SETTINGS.relayUrl.flag, SETTINGS.backupTo.flag];

async function askHostName(setup: SetupContext, network: SetupNetwork): Promise<string> {
  const { say } = setup;
  const system = SETTINGS.hostname.fallback();
  const hostname = await answerTo(setup, {
    flag: SETTINGS.hostname.flag,
    text: "Host name of this server, such as mail.example.com",
    current: currentSetting(setup, "hostname"),
    usual: system.includes(".") ? system : null,
    check: checkHostName,
  });
  const name = hostname.toLowerCase();
  const found = await findHostAddresses(network.dns, name);
  const own = network.ownAddresses;
  const owned = own.length === 0 ? "" : ` This machine has the address ${own.join(", ")}.`;
  if (typeof found === "string") {
    say(`  ${name} could not be looked up: ${found}.${owned}`);
    return name;
  }
  if (found.length === 0) {
    say(`  ${name} has no address in the DNS yet.${owned} Its record is in the table below.`);
  }
  for (const { address, isOwn } of found) {
    const which = isOwn
      ? "an address of this machine"
      : "not an address of its interfaces: right behind address translation, else correct the record";
    say(`  ${name} is ${address}, ${which}.`);
  }
  if (found.length > 0 && found.every(({ isOwn }) => !isOwn) && own.length > 0) say(` ${owned}`);
  return name;
}

async function askSender(setup: SetupContext, known: KnownInstallation, hostname: string) {
  const [only, other] = known.projects;
  const knownProject = other === undefined ? only : undefined;
  const parent = hostname.slice(hostname.indexOf(".") + 1);
  const domain = await answerTo(setup, {
    flag: "domain",
    text: "Domain that mail is sent from",
    current: knownProject?.domains.at(-1) ?? null,
    usual: parent.includes(".") ? parent : hostname,
    check: checkDomainName,
  });
  const project = await answerTo(setup, {
    flag: "project",
    text: "Name of the project",
    current: knownProject?.name ?? null,
    usual: domain,
    isOptional: true,
    check: checkProjectName,
  });
  const hasSender = known.projects.some((each) => each.name === project && each.hasSender);
  const usual = `hello@${domain}`;
  if (hasSender && setup.input.flags["from"] === undefined) return { domain, project, from: usual };
  const from = await answerTo(setup, {
    flag: "from",
    text: "Default sender, such as 'Shop <hello@shop.example>'",
    current: null,
    usual,
    isOptional: true,
    check: checkSender(domain),
  });
  return { domain, project, from };
}

async function askTransport(setup: SetupContext, network: SetupNetwork): Promise<string> {
  const known = givenFlag(setup, SETTINGS.transport.flag) ?? currentSetting(setup, "transport");
  const isAsked = setup.prompter.isInteractive && known === null;
  let blocked: string | null = null;
  if (isAsked || known === "direct") {
    setup.say("  Looking whether this machine may connect to port 25 of other mail servers …");
    blocked = await network.findBlockedPort();
    setup.say(`  ${blocked ?? "It may."}`);
  }
  const transport = await answerTo(setup, {
    flag: SETTINGS.transport.flag,
    explanation:
      "Mail leaves through the SMTP server of a provider (relay), or directly to the servers of the\n" +
      "recipients (direct), which needs an open port 25 and an address with a good reputation.",
    text: "How mail leaves: relay or direct",
    current: currentSetting(setup, "transport"),
    usual: blocked === null ? "direct" : "relay",
    check: checkChoice(["relay", "direct"]),
  });
  if (transport === "direct" && blocked !== null) {
    setup.say("  Mail will not leave until outgoing port 25 is open.");
  }
  return transport;
}

/** Asks until a session with the relay works. */
async function askRelay(setup: SetupContext, hostname: string): Promise<string> {
  const { prompter, say } = setup;
  const file = readSecretFile(setup, "relay-url-file");
  const given = file ?? givenFlag(setup, SETTINGS.relayUrl.flag);
  if (given !== undefined || !prompter.isInteractive) {
    const flag = file === null ? SETTINGS.relayUrl.flag : "relay-url-file";
    const url = given ?? setup.current.relayUrl;
    if (url === null) {
      throw new UsageError(`--relay-url-file is needed: a file with ${SETTINGS.relayUrl.help}`);
    }
    const relay = requireRelay(flag, url.trim());
    const { problem, conversation } = await tryRelaySession({ relay, hostname, mail: null });
    if (problem === null) return said(setup, relay, url.trim());
    for (const line of conversation) say(`  ${line}`);
    if (given === undefined) {
      say(`  The relay ${relay.host}:${relay.port}, which is in use, fails now: ${problem}`);
      return url;
    }
    throw new UsageError(`--${flag}: the relay ${relay.host}:${relay.port} failed: ${problem}`);
  }
  for (;;) {
    const url = await askRelayUrl(setup);
    const relay = requireRelay(SETTINGS.relayUrl.flag, url);
    const { problem, conversation } = await tryRelaySession({ relay, hostname, mail: null });
    if (problem === null) return said(setup, relay, url);
    for (const line of conversation) say(`  ${line}`);
    say(`  The relay ${relay.host}:${relay.port} failed: ${problem}`);
  }
}

function said({ say }: SetupContext, relay: Relay, url: string): string {
  const login = relay.user === undefined ? "without a login" : `as ${relay.user}`;
  say(`  The relay ${relay.host}:${relay.port} answers, ${login}.`);
  return url;
}

function requireRelay(flag: string, url: string): Relay {
  const parsed = parseRelayUrl(url);
  if (parsed.ok) return parsed.relay;
  throw new UsageError(`--${flag}: ${parsed.message}`);
}

const SUBMISSION_PORT = 587;
const SUBMISSIONS_PORT = 465;

/** Asks for the server, the user and the password; a whole URL answers all three. */
async function askRelayUrl(setup: SetupContext): Promise<string> {
  const { prompter, say, current } = setup;
  const before = parseRelayUrl(current.relayUrl ?? "");
  const known = before.ok ? before.relay : null;
  for (;;) {
    const shown = known === null ? null : `${known.host}:${known.port}`;
    const server = await prompter.ask(
      "SMTP server of the relay, such as smtp.example.com:587",
      shown,
    );
    if (/^smtps?:\/\//.test(server)) {
      const parsed = parseRelayUrl(server);
      if (parsed.ok) return server;
      say(`  the URL ${parsed.message}`);
      continue;
    }
    if (server === shown && (await prompter.confirm(`Keep the login of ${shown}`, true))) {
      return current.relayUrl ?? "";
    }
    const { host, port } = splitServer(server);
    const user = await prompter.ask("User at the relay, or none", known?.user ?? "none");
    const password = user === "none" ? undefined : await prompter.askHidden("Password (not shown)");
    const tls = port === SUBMISSIONS_PORT ? "implicit" : "starttls";
    const login = user === "none" ? {} : { user, password };
    const url = formatRelayUrl({ host, port, tls, ...login });
    const parsed = parseRelayUrl(url);
    if (parsed.ok) return url;
    say(`  the relay ${parsed.message}`);
  }
}

function splitServer(text: string): { host: string; port: number } {
  if (isIP(text) === 6) return { host: text, port: SUBMISSION_PORT };
  const [, host = text, port = String(SUBMISSION_PORT)] =
    /^\[?([^\]]*?)\]?:(\d{1,5})$/.exec(text) ?? [];
  return { host, port: Number(port) };
}

const HTTPS_PORT = 443;
const HTTP_PORT = 80;

async function askTls(
  setup: SetupContext,
  hostname: string,
): Promise<Record<string, string | null>> {
  const { machine, say } = setup;
  const listeners = machine.findListeners().filter((each) => !isOwnListener(each));
  const everywhere = machine.hasIpv6 ? "::" : "0.0.0.0";
  const isTaken = [HTTPS_PORT, HTTP_PORT].some(
    (port) => findConflict({ host: everywhere, port }, listeners) !== null,
  );
  const tls = await answerTo(setup, {
    flag: SETTINGS.tls.flag,
    explanation:
      "HTTPS: a certificate from Let's Encrypt, whose terms you accept (acme), a certificate in files of\n" +
      "yours (files), or a proxy in front of this server (off).",
    text: "TLS: acme, files or off",
    current: currentSetting(setup, "tls"),
    usual: isTaken ? "off" : "acme",
    check: checkSetting("tls"),
  });
  const url = givenFlag(setup, "url") ?? currentSetting(setup, "url") ?? `https://${hostname}`;
  if (tls !== "off") {
    return {
      tls,
      url,
      ...(await askCertificate(setup, tls)),
      "trusted-proxy": givenFlag(setup, "trusted-proxy") ?? null,
    };
  }
  const proxy = givenFlag(setup, "trusted-proxy") ?? currentSetting(setup, "trustedProxies");
  const host =
    givenFlag(setup, "host") ?? currentSetting(setup, "host") ?? SETTINGS.host.fallback();
  const port =
    givenFlag(setup, "port") ?? currentSetting(setup, "port") ?? SETTINGS.port.fallback();
  say(`  The proxy must pass ${url} on to http://${host}:${port}.`);
  const none = ["tls-cert", "tls-key", "acme-directory", "acme-ca", "https", "plain-http"];
  return {
    ...Object.fromEntries(none.map((flag) => [flag, givenFlag(setup, flag) ?? null])),
    tls,
    url,
    "trusted-proxy": proxy ?? "127.0.0.1",
  };
}

async function askCertificate(
  setup: SetupContext,
  tls: string,
): Promise<Record<string, string | null>> {
  const acme = ["acme-directory", "acme-ca"];
  if (tls === "acme") return { "tls-cert": null, "tls-key": null };
  const ask = (name: "tlsCert" | "tlsKey", text: string) =>
    answerTo(setup, {
      flag: SETTINGS[name].flag,
      text,
      current: currentSetting(setup, name),
      check: checkSetting(name),
    });
  return {
    ...Object.fromEntries(acme.map((flag) => [flag, null])),
    "tls-cert": await ask("tlsCert", "File of the certificate with its chain (PEM)"),
    "tls-key": await ask("tlsKey", "File of its private key (PEM)"),
  };
}

/** The listeners for SMTP: bounces on port 25, and submission on 587 and 465. */
async function askListeners(
  setup: SetupContext,
  { transport, hasTls }: { transport: string; hasTls: boolean },
): Promise<Record<string, string | null>> {
  const everywhere = setup.machine.hasIpv6 ? "[::]" : "0.0.0.0";
  const hasCertificate =
    hasTls || (givenFlag(setup, "smtp-tls-cert") ?? currentSetting(setup, "smtpTlsCert")) !== null;
  // Without a certificate, passwords are taken from programs of this machine only.
  const forPrograms = hasCertificate ? everywhere : "127.0.0.1";
  const ask = (
    name: "inbound" | "submission" | "submissions",
    port: number,
    text: string,
    isUsual: boolean,
  ) =>
    answerTo(setup, {
      flag: SETTINGS[name].flag,
      text,
      current: currentOrNone(setup, name),
      usual: isUsual ? `${everywhere}:${port}` : "none",
      isOptional: true,
      check: (answer) => {
        const checked = checkOptional(name)(answer);
        // A flag is refused with all settings at hand, which may name a certificate.
        if (!setup.prompter.isInteractive || hasCertificate || name === "inbound") return checked;
        return checked.ok ? checkSubmission(name, answer) : checked;
      },
    });
  const inbound = await ask(
    "inbound",
    25,
    "Listen for bounces of sent mail, usually on port 25, or none",
    transport === "direct",
  );
  const submission = await ask(
    "submission",
    SUBMISSION_PORT,
    `Take mail of your programs over SMTP, usually on ${forPrograms}:${SUBMISSION_PORT}, or none`,
    false,
  );
  const submissions =
    submission === "none" && givenFlag(setup, "submissions") === undefined
      ? (currentSetting(setup, "submissions") ?? "none")
      : await ask(
          "submissions",
          SUBMISSIONS_PORT,
          `The same with TLS from the first byte, usually on ${forPrograms}:${SUBMISSIONS_PORT}, or none`,
          false,
        );
  return textsOrNull({ inbound, submission, submissions });
}

/** Without a certificate, passwords must not leave this machine. */
export function checkSubmission(name: "submission" | "submissions", text: string): Checked {
  const parsed = SETTINGS[name].parse(text);
  const isOpen = "value" in parsed && parsed.value !== null && !isLoopback(parsed.value.host);
  if (text === "none" || !isOpen) return { ok: true, value: text };
  return {
    ok: false,
    reason: `passwords are sent to it, so ${text} needs a certificate; choose an address of this machine such as 127.0.0.1:${SUBMISSION_PORT}, or none`,
  };
}

function textsOrNull(answers: Readonly<Record<string, string>>): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(answers).map(([flag, text]) => [flag, text === "none" ? null : text]),
  );
}

async function askBackups(setup: SetupContext): Promise<Record<string, string | null>> {
  const { flag } = SETTINGS.backupTo;
  const backupTo = await answerTo(setup, {
    flag,
    explanation:
      "An encrypted backup is made every day in a folder of this machine. Copy it to another one.",
    text: "Folder of the backups, or none",
    current: currentOrNone(setup, "backupTo"),
    usual: setup.prompter.isInteractive ? "/var/backups/mailstead" : "none",
    isOptional: true,
    check: checkBackupFolder,
  });
  return { [flag]: backupTo === "none" ? null : backupTo };
}

/** Homes are invisible for the service, and other characters would need quotes in its unit. */
function checkBackupFolder(text: string) {
  if (text !== "none" && !/^(?:\/|s3:\/\/)/.test(text)) {
    return {
      ok: false,
      reason: `expected a path that begins with /, s3://BUCKET/PREFIX or none, got "${text}"`,
    } as const;
  }
  if (!text.startsWith("/")) return checkOptional("backupTo")(text);
  if (/^\/(?:home|root|run\/user|tmp|var\/tmp)(?:\/|$)/.test(text)) {
    return {
      ok: false,
      reason: `${text} is hidden from the service; use a folder such as /var/backups/mailstead`,
    } as const;
  }
  return /^(?:\/[\w.@+-]+)+$/.test(text)
    ? ({ ok: true, value: text } as const)
    : ({
        ok: false,
        reason: `expected a path of letters, digits and . _ @ + -, got "${text}"`,
      } as const);
}
