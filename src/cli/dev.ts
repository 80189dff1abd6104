/**
 * The command `mailstead dev`: runs a server that catches all mail, over SMTP and HTTP, and needs no
 * verified domain. It creates a project with keys and an inbox, and prints how to try it.
 */

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Server } from "../app.ts";
import { withMailpitVariables } from "../config/mailpit-variables.ts";
import type { SettingSources, StoredTexts } from "../config/read.ts";
import type { Config } from "../config/settings.ts";
import { sha256 } from "../lib/crypto.ts";
import { VERSION } from "../lib/version.ts";
import { changeProject, createProject, findProject, type ProjectRow } from "../modules/projects.ts";
import {
  type Command,
  type Input,
  readSettings,
  settingSources,
  TEMPORARY_DATA,
} from "./command.ts";
import type { Io } from "./io.ts";
import { logCaughtMail } from "./caught-log.ts";
import { addressText, reachable } from "./capture-address.ts";
import { prepareOwner } from "./owner.ts";
import { runServer, SERVER_SETTINGS } from "./serve.ts";
import { isLoopbackHost } from "../lib/loopback-host.ts";
import { developerToken, ensureDeveloper } from "../modules/accounts/developer.ts";
import { transportOf } from "../outbox/transports/create-transport.ts";
import { createKey, findKey } from "../modules/keys.ts";
import { capturePort } from "../modules/accounts/state.ts";
import { inboxService } from "../modules/inboxes/service.ts";

/**
 * The keys in a file of the data folder. The database has only digests, and `dev` prints the keys.
 */
const DevKeys = Type.Object({ secretKey: Type.String(), publicKey: Type.String() });
type DevKeys = { secretKey: string; publicKey: string };

const PROJECT_NAME = "Development";
/**
 * The default sender, so that forms, workflows and the preference page can send at once. Only while mail
 * is captured: no server would accept mail of this domain.
 */
const SENDER = { address: "hello@example.org", name: PROJECT_NAME };

const DEV_PORT = 8025;
const SMTP_PORT = 1025;

export const dev: Command = {
  name: "dev",
  summary: "Run for development: catches every mail, over SMTP and HTTP, and prints keys",
  details:
    `SMTP on port ${SMTP_PORT} and HTTP on port ${DEV_PORT} of --host, the ports that frameworks use for\n` +
    "mail catchers. It is the server of `mailstead serve` with other defaults: no mail leaves, no\n" +
    "domain must be verified, and neither requests nor captured mails are limited per second.\n" +
    `The first start creates a project with the default sender ${SENDER.address}, its keys and an inbox.\n` +
    `With --data ${TEMPORARY_DATA} all data is in a folder that is removed when the command ends.`,
  positionals: [],
  flags: [],
  settings: SERVER_SETTINGS,
  run: async (input) => {
    const { environment, ignored } = withMailpitVariables(input.io.env);
    const settings = devSettings(input, environment);
    const config = settings.withStored(null);
    const isForMailpit = Object.keys(input.io.env).some((name) => name.startsWith("MP_"));
    let dashboardPath = "/app";
    let keys: DevKeys = { secretKey: "", publicKey: "" };
    return runServer(input.io, {
      settings,
      hasOpenInboxes: true,
      ignoredVariables: ignored,
      prepare: async ({ app, folder }) => {
        keys = await devKeys(app, join(folder, "dev-keys.json"));
        dashboardPath = await prepareDashboard(app, config);
      },
      onStarted: async ({ app, address, folder }) => {
        const host = reachable(config.captureSmtp.host);
        const smtp = addressText({ host, port: capturePort(app.app).value ?? 0 });
        const url = address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
        logCaughtMail(app, config.url ?? url);
        const dashboard = `${config.url ?? url}${dashboardPath}`;
        const info = { version: VERSION, data: folder, url, smtp, dashboard, ...keys };
        const { program, stdout } = input.io;
        stdout.line(input.isJson ? JSON.stringify(info) : welcome(info, program, config));
        // Test libraries that start Mailpit's image wait for this line.
        if (isForMailpit && !input.isJson) stdout.line(`[http] accessible via ${url}/`);
      },
    });
  },
};

/** Prepares the sign-in, and returns the path that the terminal shows for it. */
async function prepareDashboard(app: Server, config: Config): Promise<string> {
  // On a machine that others reach, the first person who reads the terminal creates the owner.
  if (!isLoopbackHost(config.host)) return (await prepareOwner(app, config)) ?? "/app";
  const shownHost = config.url === null ? config.host : new URL(config.url).hostname;
  const signsIn = config.uiAuth.length === 0 && isLoopbackHost(shownHost.replace(/^\[|\]$/g, ""));
  if (!signsIn) return `/app/link#${await developerToken(app)}`;
  // This address signs each browser of this machine in, as often as it is opened (http/sign-in-path.ts).
  await ensureDeveloper(app);
  return "/";
}

/** Requests are not limited, because tests that run at the same time send many. */
const DEV_DEFAULTS = {
  mailpitApi: true,
  requireVerifiedDomain: false,
  port: DEV_PORT,
  apiRate: 0,
  userRate: 0,
  updateCheck: false,
};
/** Mail that is captured does not leave, so a test does not wait for the rate. */
const CAPTURE_DEFAULTS = { ...DEV_DEFAULTS, sendRate: 0 };

type DevConfig = Config & { captureSmtp: { host: string; port: number } };

/** The transport is never that of the dashboard, so that no mail of a copied data folder leaves. */
function devSettings(
  input: Input,
  environment: Io["env"],
): Pick<SettingSources, "given"> & { withStored: (stored: StoredTexts | null) => DevConfig } {
  const { transport } = readSettings(input, { environment, defaults: DEV_DEFAULTS });
  const defaults = transport === "capture" ? CAPTURE_DEFAULTS : DEV_DEFAULTS;
  const { given, withStored } = settingSources(input, { environment, defaults });
  const source = { kind: "flag", name: "mailstead dev", path: null } as const;
  let temporary: string | null = null;
  return {
    given: { transport: { text: transport, source }, ...given },
    withStored(stored) {
      const config = withStored(stored === null ? null : { ...stored, transport });
      const isTemporary = config.data === TEMPORARY_DATA;
      if (isTemporary) temporary ??= temporaryFolder(input.io);
      return {
        ...config,
        data: isTemporary && temporary !== null ? temporary : config.data,
        captureSmtp: config.captureSmtp ?? { host: config.host, port: SMTP_PORT },
      };
    },
  };
}

/** Creates a folder that is removed when the program ends. */
function temporaryFolder({ env, onEnd }: Io): string {
  const folder = mkdtempSync(join(env["TMPDIR"] || tmpdir(), "mailstead-dev-"));
  onEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function devKeys(app: Server, file: string): Promise<DevKeys> {
  const stored = readKeys(file);
  const isValid = stored !== null && findKey(app.app, sha256(stored.secretKey))?.isUsable === true;
  if (isValid) return stored;
  const created = await app.writer.write(() => {
    const project = findProject(app.app, PROJECT_NAME) ?? createDevProject(app);
    inboxService(app.app).defaultOf(project.seq);
    const key = (kind: "SECRET" | "PUBLIC") =>
      createKey(app.app, project.seq, { kind, name: "mailstead dev", expiresAt: null }).text;
    return { secretKey: key("SECRET"), publicKey: key("PUBLIC") };
  });
  writeFileSync(file, `${JSON.stringify(created, null, 2)}\n`, { mode: 0o600 });
  return created;
}

function createDevProject({ app }: Server): ProjectRow {
  const project = createProject(app, PROJECT_NAME);
  return transportOf(app).name === "capture"
    ? changeProject(app, project, { sender: SENDER })
    : project;
}

function readKeys(file: string): DevKeys | null {
  if (!existsSync(file)) return null;
  const stored = parseJson(readFileSync(file, "utf8"));
  return Value.Check(DevKeys, stored) ? stored : null;
}

/** Undefined for a text that is not JSON: a process that was killed may have left half of it. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Info = {
  version: string;
  data: string;
  url: string;
  smtp: string;
  dashboard: string;
} & DevKeys;

function welcome(
  info: Info,
  program: string,
  { captureAuth, uiAuth }: Pick<Config, "captureAuth" | "uiAuth">,
): string {
  const auth = `-H 'Authorization: Bearer ${info.secretKey}'`;
  const to = info.smtp.endsWith(`:${SMTP_PORT}`) ? "" : ` --capture-smtp ${info.smtp}`;
  const mail = JSON.stringify({
    to: "ada@example.com",
    from: { name: "Mailstead", email: "hello@example.org" },
    subject: "Hello {{ name }}",
    body: "<h1>It works, {{ name }}!</h1>",
    data: { name: "Ada" },
  });
  return `Mailstead ${info.version} catches every mail; nothing is sent.

  SMTP        ${info.smtp}  (${captureAuth.length > 0 ? "a user of --capture-auth" : "any user and password, or none"})
  HTTP        ${info.url}
  dashboard   ${info.dashboard}
  docs        ${info.url}/docs
  data        ${info.data}
  secret key  ${info.secretKey}
  public key  ${info.publicKey}

Send a mail over SMTP, and read it:

  ${program} send${to}
  curl ${quotedUrl(`${info.url}/inboxes/default/messages/latest`)}${uiAuth.length > 0 ? ` ${auth}` : ""}

Send one over HTTP:

  curl ${quotedUrl(`${info.url}/v1/send`)} ${auth} -H 'Content-Type: application/json' -d '${mail}'

Stop with Ctrl-C.
`;
}

/** Some shells read the brackets of an IPv6 address as a pattern. */
const quotedUrl = (url: string): string => (url.includes("[") ? `'${url}'` : url);
