/**
 * The command `mailstead dev`: runs a server that captures all mail and needs no verified domain.
 * It creates a project with keys, and prints an example request.
 */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { App } from "../app.ts";
import { readConfig } from "../config/read.ts";
import { sha256 } from "../lib/crypto.ts";
import { VERSION } from "../lib/version.ts";
import type { Command } from "./command.ts";
import { runServer, SERVER_SETTINGS } from "./serve.ts";

/**
 * The keys in a file of the data folder. The database has only digests, and `dev` prints the keys.
 */
const DevKeys = Type.Object({ secretKey: Type.String(), publicKey: Type.String() });
type DevKeys = { secretKey: string; publicKey: string };

const PROJECT_NAME = "Development";

export const dev: Command = {
  name: "dev",
  summary: "Run for development: captures every mail, creates keys and prints them",
  details:
    "Runs the same server as serve, with --transport capture and --require-verified-domain false.\n" +
    "A project and its keys are created on the first start and stored in the data folder.",
  positionals: [],
  flags: [],
  settings: [...SERVER_SETTINGS, "allowedHosts"],
  run: async (input) => {
    const config = readConfig(input.settings, input.environment, { requireVerifiedDomain: false });
    return runServer({ ...config, hasOpenInboxes: true }, async ({ app, address, folder }) => {
      const keys = await devKeys(app, join(folder, "dev-keys.json"));
      const info = { version: VERSION, data: folder, url: address, ...keys };
      console.log(input.isJson ? JSON.stringify(info) : welcome(info));
    });
  },
};

async function devKeys(app: App, file: string): Promise<DevKeys> {
  const stored = readKeys(file);
  const isValid =
    stored !== null && app.keys.findByDigest(sha256(stored.secretKey))?.isUsable === true;
  if (isValid) return stored;
  const created = await app.writer.write(() => {
    const project = app.projects.find(PROJECT_NAME) ?? app.projects.create(PROJECT_NAME)();
    const key = (kind: "SECRET" | "PUBLIC") =>
      app.keys.create(project.seq, { kind, name: "mailstead dev", expiresAt: null })().text;
    return { secretKey: key("SECRET"), publicKey: key("PUBLIC") };
  });
  writeFileSync(file, `${JSON.stringify(created, null, 2)}\n`, { mode: 0o600 });
  return created;
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

function welcome(info: { version: string; data: string; url: string } & DevKeys): string {
  const auth = `-H 'Authorization: Bearer ${info.secretKey}'`;
  const mail = JSON.stringify({
    to: "ada@example.com",
    from: { name: "Mailstead", email: "hello@example.org" },
    subject: "Hello {{ name }}",
    body: "<h1>It works, {{ name }}!</h1>",
    data: { name: "Ada" },
  });
  return `
Mailstead ${info.version} captures every mail and sends none.

  API         ${info.url}
  docs        ${info.url}/docs
  data        ${info.data}
  secret key  ${info.secretKey}
  public key  ${info.publicKey}

Send a mail:

  curl ${info.url}/v1/send ${auth} -H 'Content-Type: application/json' -d '${mail}'

List the captured mails, newest first, and show one whole message:

  curl '${info.url}/emails?limit=5' ${auth}
  curl ${info.url}/emails/ID/raw ${auth}

Stop with Ctrl-C.
`;
}
