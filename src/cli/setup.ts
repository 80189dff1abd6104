/**
 * The command `mailstead setup`: from an empty server to a delivered mail.
 *
 * 1. `setup/interview.ts` asks for the values that the flags leave open, and examines each answer on
 *    this machine.
 * 2. `setup/plan.ts` makes the files, and reads them as the server will; then their changes are shown.
 * 3. `setup/service.ts` makes the user and starts the server, after `setup/files.ts` has written them.
 * 4. `setup/installation.ts` makes the owner, the project, the domain and the recovery key.
 * 5. `setup/dns-watch.ts` shows the DNS records until they are right, and the first mail is sent.
 *
 * Each step looks first at the present state, so a setup that was interrupted is run again.
 */

import { createHash } from "node:crypto";
import { platform } from "node:os";
import { parseRecipient } from "../backup/age.ts";
import { type Config, SETTINGS, type SettingName } from "../config/settings.ts";
import { AppError } from "../lib/errors.ts";
import { systemClock } from "../lib/clock.ts";
import { silentLog } from "../lib/log.ts";
import { linkBase } from "../installation.ts";
import { parseMailbox } from "../protocols/mime/mailbox.ts";
import { createCertificateFiles } from "../tls/certificate.ts";
import { type Command, type Input, UsageError } from "./command.ts";
import { SERVER_SETTINGS } from "./serve.ts";
import { readCurrentFiles, type SetupContext } from "./setup/context.ts";
import { checkDomainRecords, hostRecords, watchRecords } from "./setup/dns-watch.ts";
import {
  describeChange,
  type FileChange,
  findChanges,
  installExecutable,
  isInstalled,
  giveDataFiles,
  makeServiceFolder,
  writeChange,
} from "./setup/files.ts";
import {
  CommandFailed,
  ensureDomain,
  ensureOwner,
  ensureProject,
  type EnsuredProject,
  ensureRecoveryKey,
  type KnownInstallation,
  readInstallation,
  sendTestMail,
  type TestMail,
} from "./setup/installation.ts";
import { type Answers, interview } from "./setup/interview.ts";
import { type Machine, createMachine } from "./setup/machine.ts";
import {
  openNetwork,
  reportFirewall,
  requireDistinctPorts,
  requireFreePorts,
  type SetupNetwork,
  wantedPorts,
} from "./setup/network.ts";
import {
  environmentText,
  outsideFolder,
  readPlannedConfig,
  requireBackupFolder,
  wantedFiles,
} from "./setup/plan.ts";
import { lockMachine } from "./setup/lock.ts";
import { relayTestMail, tryRelaySession } from "./setup/relay-trial.ts";
import {
  ensureServiceUser,
  isUnfinished,
  localUrl,
  markUnfinished,
  plainCommand,
  startService,
} from "./setup/service.ts";
import { createPrompter, SetupStopped } from "./setup/terminal.ts";
import { DATA_FOLDER, packagedUnit, serviceExecutable } from "./setup/unit.ts";

/** The data folder, the secret and the owner have places of their own on a server. */
const SETUP_SETTINGS: readonly SettingName[] = SERVER_SETTINGS.filter(
  (name) => !["data", "secret", "ownerEmail", "ownerPassword"].includes(name),
);

const EXIT_STOPPED = 130;

export const setup: Command = {
  name: "setup",
  summary:
    "Set up this server: files, service, owner, domain and DNS, up to the first delivered mail",
  details:
    "It asks for what the flags leave open; Enter takes the shown value. Without a terminal it needs\n" +
    "--hostname, --domain, --owner-email, --transport and --tls, and for a relay --relay-url-file.\n" +
    "Every other setting of serve may be given as well, and is written into /etc/mailstead/environment.\n" +
    "Run it again to change something, or after an interruption: it changes only what differs.",
  positionals: [],
  flags: [
    { name: "domain", placeholder: "NAME", help: "Domain that mail is sent from" },
    {
      name: "project",
      placeholder: "NAME",
      help: "Name of the project; usually that of the domain",
    },
    {
      name: "from",
      placeholder: "'NAME <ADDRESS>'",
      help: "Default sender; usually hello@ the domain",
    },
    {
      name: "owner-email",
      placeholder: "ADDRESS",
      help: "Address of the owner of the installation",
    },
    {
      name: "owner-password-file",
      placeholder: "FILE",
      help: "File with the password of the owner, instead of a sign-in link",
    },
    { name: "relay-url-file", placeholder: "FILE", help: "File with the URL of the relay" },
    {
      name: "relay-test-mail",
      help: "Send a mail to the owner through the relay before anything is written",
    },
    {
      name: "backup-recipient",
      placeholder: "AGE1…",
      help: "Public half of a recovery key that you have already",
    },
    { name: "no-test-mail", help: "Do not send the first mail to the owner" },
    { name: "no-wait", help: "Do not wait until the DNS records are right" },
    { name: "no-start", help: "Write the files, and start nothing" },
    { name: "dry-run", help: "Only show the files and the steps" },
    { name: "yes", help: "Ask nothing, also in a terminal" },
  ],
  settings: SETUP_SETTINGS,
  run: (input) => runSetup(input, createMachine(input.io)),
};

/** `machine` is another one in tests. */
export async function runSetup(input: Input, machine: Machine): Promise<number> {
  const { io, flags, isJson } = input;
  const isDryRun = flags["dry-run"] !== undefined;
  requireServer(machine, isDryRun);
  const unlock = isDryRun ? () => {} : lockMachine(machine);
  const isTerminal = io.stdin.isTerminal && io.stdout.isTerminal;
  const isInteractive = isTerminal && !isJson && flags["yes"] === undefined;
  const prompter = createPrompter(io, { isInteractive });
  const output = isJson ? io.stderr : io.stdout;
  const context: SetupContext = {
    input,
    machine,
    prompter,
    clock: systemClock,
    current: readCurrentFiles(machine),
    say: (line) => output.line(line),
    next: "Nothing was changed.",
  };
  const network = openNetwork(context);
  try {
    const result = await runSteps(context, network, unlock);
    if (isJson) io.stdout.line(JSON.stringify(result));
    return 0;
  } catch (error) {
    if (!(error instanceof SetupStopped)) throw error;
    io.stderr.line(`\nThe setup was ended. ${context.next}`);
    return EXIT_STOPPED;
  } finally {
    unlock();
    network.close();
    await prompter.close();
  }
}

function requireServer({ isRoot, executable }: Machine, isDryRun: boolean): void {
  if (platform() !== "linux") throw new UsageError("setup is for a server with Linux");
  if (isDryRun) return;
  if (!isRoot) throw new UsageError("setup changes the system: run it as root, or with --dry-run");
  if (executable !== null) return;
  throw new UsageError(
    "setup installs the executable: build it with scripts/build.ts, and run that one",
  );
}

/** `unlock` lets another setup begin: it is called when the server runs. */
async function runSteps(context: SetupContext, network: SetupNetwork, unlock: () => void) {
  const { input } = context;
  const known = await readKnown(context);
  const answers = await interview(context, known, network);
  const planned = await plan(context, answers);
  const { changes, config } = planned;
  if (input.flags["dry-run"] !== undefined) return showSteps(context, answers, planned);
  await offerRelayMail(context, answers, config);
  await confirmChanges(context, planned);
  await apply(context, planned);
  const files = changes.map(({ path, kind }) => ({ path, kind }));
  if (input.flags["no-start"] !== undefined) return notStarted(context, answers, files);
  const { environment } = planned;
  const { relayUrl } = answers;
  await startService(context, { config, environment, relayUrl, isChanged: planned.isChanged });
  unlock();
  return {
    files,
    ...(await fillInstallation(context, { answers, known, config, network })),
  };
}

/**
 * Finds the parts that exist already. A server that runs an older version cannot tell it before its
 * restart.
 */
async function readKnown(context: SetupContext): Promise<KnownInstallation> {
  try {
    return await readInstallation(context);
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    context.say(`The installation cannot be read yet: ${error.message}`);
    return { projects: [], owners: [] };
  }
}

type Planned = {
  config: Config;
  environment: string;
  changes: FileChange[];
  /** The path at which to install the executable; null if it is there already. */
  install: { from: string; to: string } | null;
  /** True if the server must start again. */
  isChanged: boolean;
};

/** Makes the files, and refuses settings that the server would refuse. */
async function plan(context: SetupContext, answers: Answers): Promise<Planned> {
  const { machine } = context;
  const { settings, relayUrl } = answers;
  const environment = environmentText(context, settings);
  const config = readPlannedConfig(environment, settings, relayUrl);
  const recipient = context.input.flags["backup-recipient"];
  if (recipient !== undefined) parseRecipient(recipient);
  const { tlsCert: cert, tlsKey: key } = config;
  if (cert !== null && key !== null) createCertificateFiles({ cert, key }, silentLog).load();
  await requireBackupFolder(machine, config);
  const wanted = wantedPorts(config, machine.hasIpv6);
  requireDistinctPorts(wanted);
  await requireFreePorts(context, wanted);
  await reportFirewall(context, wanted);
  const changes = findChanges(machine, wantedFiles(context, { environment, relayUrl, config }));
  const install = await findInstallation(machine);
  const isChanged = changes.length > 0 || install !== null || isUnfinished(context);
  return { config, environment, changes, install, isChanged };
}

/** A package installs its executable itself. */
async function findInstallation(machine: Machine): Promise<Planned["install"]> {
  const from = machine.executable;
  const to = machine.path(serviceExecutable(machine));
  if (from === null || packagedUnit(machine) !== null) return null;
  return (await isInstalled(from, to)) ? null : { from, to };
}

function describePlan({ changes, install }: Planned, isWhole: boolean): string[] {
  const lines = changes.flatMap((change) => describeChange(change, { isWhole }));
  if (install !== null) lines.unshift(`install  ${install.to}`);
  return lines.length > 0 ? lines.map((line) => `  ${line}`) : ["  No file changes."];
}

async function confirmChanges(context: SetupContext, planned: Planned): Promise<void> {
  const { say, prompter } = context;
  say("Files:");
  for (const line of describePlan(planned, false)) say(line);
  if (!prompter.isInteractive || !planned.isChanged) return;
  if (!(await prompter.confirm("Write them, and start the server", true))) throw new SetupStopped();
}

function showSteps(context: SetupContext, answers: Answers, planned: Planned) {
  const { say } = context;
  say("Files:");
  for (const line of describePlan(planned, true)) say(line);
  const steps = stepsOf(answers, planned);
  say("Steps:");
  for (const step of steps) say(`  ${step}`);
  say("This was a dry run: nothing was changed.");
  return { files: planned.changes.map(({ path, kind }) => ({ path, kind })), steps };
}

function stepsOf({ ownerEmail, project, domain, from }: Answers, planned: Planned): string[] {
  return [
    "create the user mailstead, if it is missing, and its folders",
    ...(planned.isChanged
      ? ["write the files, and start the server again"]
      : ["start the server, if it does not run"]),
    `make ${ownerEmail} an owner`,
    `create the project ${project} with the default sender ${from}, if it is missing`,
    `add the domain ${domain}, show its DNS records, and wait until they are right`,
    ...(planned.config.backupTo === null
      ? []
      : ["make the recovery key of the backups, if there is none"]),
    `send a test mail to ${ownerEmail}`,
  ];
}

/** A mail through the relay, before anything is written, if the user agrees. */
async function offerRelayMail(
  context: SetupContext,
  answers: Answers,
  config: Config,
): Promise<void> {
  const { input, prompter, say } = context;
  if (answers.relayUrl === null) return;
  const { ownerEmail: to } = answers;
  const parsed = parseMailbox(answers.from);
  if (!parsed.ok) throw new UsageError(`--from: ${parsed.reason}`);
  const isWanted =
    input.flags["relay-test-mail"] !== undefined ||
    (prompter.isInteractive &&
      answers.relayUrl !== context.current.relayUrl &&
      (await prompter.confirm(`Send a test mail to ${to} through the relay now`, true)));
  if (!isWanted) return;
  const { relayUrl: relay, hostname } = config;
  if (relay === null) return;
  const envelope = { from: parsed.mailbox.address, to, relay: relay.host };
  const mail = await relayTestMail(envelope, context.clock.now());
  const { problem, conversation } = await tryRelaySession({ relay, hostname, mail });
  if (problem === null) {
    say(`The relay took a test mail to ${to}.`);
    return;
  }
  for (const line of conversation) say(`  ${line}`);
  const refused = `The relay did not take a test mail to ${to}: ${problem}`;
  if (!prompter.isInteractive) {
    throw new AppError(502, "RELAY_REFUSED", `${refused} Nothing was changed.`);
  }
  say(refused);
  if (!(await prompter.confirm("Go on with this relay", false))) throw new SetupStopped();
}

async function apply(context: SetupContext, planned: Planned): Promise<void> {
  const { machine, clock } = context;
  const { config, changes, install } = planned;
  const service = await ensureServiceUser(context);
  await requireReadable(context, config);
  context.next = "Run mailstead setup again: it goes on where it ended.";
  makeServiceFolder(machine, DATA_FOLDER, service);
  giveDataFiles(machine, DATA_FOLDER, service);
  const backups = outsideFolder(config.backupTo);
  if (backups !== null) makeServiceFolder(machine, backups, service);
  if (!planned.isChanged) return;
  markUnfinished(context);
  if (install !== null) installExecutable(install.from, install.to);
  for (const change of changes) writeChange(machine, change, { service, now: clock.now() });
}

/** The server reads its certificate as its own user. */
async function requireReadable(
  { machine }: SetupContext,
  { tlsCert, tlsKey }: Config,
): Promise<void> {
  for (const [flag, file] of [
    ["tls-cert", tlsCert],
    ["tls-key", tlsKey],
  ] as const) {
    if (file === null || (await machine.canServiceRead(file))) continue;
    throw new UsageError(
      `--${flag}: the user mailstead cannot read ${file}; copy it to /etc/mailstead/tls with chgrp mailstead and chmod 640`,
    );
  }
}

function notStarted({ machine, say }: SetupContext, { relayUrl }: Answers, files: unknown) {
  const start = machine.hasSystemd
    ? "  systemctl enable --now mailstead"
    : plainCommand(relayUrl !== null);
  say(`The files are written, and nothing was started. To start:\n${start}`);
  say("Then run mailstead setup again for the owner, the domain and the test mail.");
  return { files };
}

type Filling = {
  answers: Answers;
  known: KnownInstallation;
  config: Config;
  network: SetupNetwork;
};

/** Everything that needs the running server: owner, project, domain, recovery key, DNS, first mail. */
async function fillInstallation(context: SetupContext, filling: Filling) {
  const { say } = context;
  const { answers, known, config } = filling;
  const { ownerEmail: email, domain, from } = answers;
  const url = linkBase(config);
  const link = await ensureOwner(context, { email, password: answers.ownerPassword, known });
  if (link !== null)
    say(`\n${email} is an owner. To sign in, once within an hour, open:\n  ${link}\n`);
  const project = await ensureProject(context, { name: answers.project, from, known });
  sayKeys(context, answers.project, project);
  await ensureDomain(context, { domain, project: project.id, known });
  const recoveryKey = config.backupTo === null ? null : await makeRecoveryKey(context);
  const records = await showRecords(context, filling, project.id);
  const testMail = await firstMail(context, filling, { project: project.id, ...records });
  say(`The dashboard: ${url}/app`);
  return {
    url,
    link,
    project: { id: project.id, name: answers.project, ...project.keys },
    domain: { name: domain, verified: records.isVerified, records: records.lines },
    recoveryKey,
    testMail,
  };
}

function sayKeys({ say }: SetupContext, name: string, { keys }: EnsuredProject): void {
  if (keys === null) {
    say(`The project ${name} is there already. Another key: ${commandText("key create")}`);
    return;
  }
  say(`The project ${name} has these keys. Store the secret key now: it is not shown again.`);
  say(`  secret key  ${keys.secretKey}\n  public key  ${keys.publicKey}\n`);
}

async function makeRecoveryKey(context: SetupContext): Promise<string | null> {
  const key = await ensureRecoveryKey(context);
  if (key === null) {
    context.say("Backups are encrypted for the recovery key that there is already.");
    context.say(`If it is lost, make another one: ${commandText("backup init --replace")}`);
  } else {
    context.say(
      "The recovery key of the backups. Store it away from this machine: it is not shown again.",
    );
    context.say(`  ${key}\n`);
  }
  return key;
}

async function showRecords(
  context: SetupContext,
  { answers, config, network }: Filling,
  project: string,
) {
  const { hostname, domain } = answers;
  const isSending = config.transport === "direct";
  const host = { hostname, addresses: network.ownAddresses, isSending };
  const dns = answers.settings["dns"] ?? context.current.variables[SETTINGS.dns.env] ?? null;
  context.next = `The server runs. To check the records later: ${commandText(`domain verify ${domain}`)}`;
  const state = await watchRecords(
    context,
    async () => {
      const own = await hostRecords(network.dns, host);
      const { isVerified, lines } = await checkDomainRecords(context, { domain, project, dns });
      return { isVerified, lines: [...own, ...lines] };
    },
    { mayWait: context.input.flags["no-wait"] === undefined },
  );
  const left = state.lines.filter((line) => line.state !== "ok");
  context.say(
    left.length === 0
      ? "All records are right."
      : `${left.length} of ${state.lines.length} records are not right yet.`,
  );
  return state;
}

const commandText = (words: string): string =>
  `runuser -u mailstead -- mailstead ${words} --data ${DATA_FOLDER}`;

async function firstMail(
  context: SetupContext,
  { answers, config }: Filling,
  { project, isVerified }: { project: string; isVerified: boolean },
): Promise<TestMail | null> {
  const { input, prompter, say } = context;
  const { ownerEmail: to, domain, hostname: host } = answers;
  if (input.flags["no-test-mail"] !== undefined) return null;
  if (!isVerified && config.requireVerifiedDomain) {
    say(
      `No test mail was sent, because ${domain} is not verified yet. When its records are right, run mailstead setup again.`,
    );
    return null;
  }
  if (prompter.isInteractive && !(await prompter.confirm(`Send a test mail to ${to}`, true)))
    return null;
  const way = [to, domain, host, config.transport, answers.relayUrl ?? ""];
  const digest = createHash("sha256").update(way.join(" "));
  const once = `setup-${digest.digest("hex").slice(0, 32)}`;
  const mail = await sendTestMail(context, { server: localUrl(config), project, to, host, once });
  say(mailText(to, mail));
  return mail;
}

function mailText(to: string, { status, reason }: TestMail): string {
  const said = reason === "" ? "" : `: ${reason}`;
  if (status === "delivered") return `The test mail was delivered to the server of ${to}${said}`;
  if (status === "sent") return `The relay took the test mail to ${to}${said}`;
  if (status === "deferred")
    return `The test mail to ${to} was deferred, and is tried again${said}`;
  if (status === "waiting") return `The test mail to ${to} has not left yet${said}`;
  return `The test mail to ${to} was not delivered${said}`;
}
