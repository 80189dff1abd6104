/**
 * The data of the installation: its owner, project, sender, domain and recovery key. They are read and
 * made by the commands of this program, which run as the user of the service.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../lib/errors.ts";
import { listAt, valueAt } from "../../protocols/relay-reports/report.ts";
import { pause, type SetupContext } from "./context.ts";
import { DATA_FOLDER } from "./unit.ts";

/** A command of this program failed; `message` is its output. */
export class CommandFailed extends AppError {
  constructor(message: string) {
    super(500, "SETUP_FAILED", message);
  }
}

/** Runs a command with --json and returns its result. */
export async function runForJson(
  { machine }: Pick<SetupContext, "machine">,
  words: readonly string[],
  stdin?: string,
): Promise<unknown> {
  const { code, stdout, stderr } = await machine.runCommand([...words, "--json"], stdin);
  // `domain verify` exits with 1 if records are missing, and prints its result.
  if (stdout.startsWith("{")) {
    const result: unknown = JSON.parse(stdout);
    return result;
  }
  throw new CommandFailed(reasonIn(stderr) ?? `mailstead ${words.join(" ")} ended with ${code}`);
}

/** The error that a command prints with --json. */
function reasonIn(stderr: string): string | null {
  for (const line of stderr.split("\n")) {
    if (!line.startsWith('{"error"')) continue;
    const printed: unknown = JSON.parse(line);
    const [message, suggestion] = ["message", "suggestion"].map((key) =>
      valueAt(printed, "error", key),
    );
    return [message, suggestion].filter((text) => typeof text === "string").join(" ");
  }
  return stderr.trim().slice(0, 1_000) || null;
}

const textOf = (value: unknown, ...path: readonly string[]): string => {
  const found = valueAt(value, ...path);
  return typeof found === "string" ? found : "";
};

type KnownProject = { id: string; name: string; hasSender: boolean; domains: readonly string[] };
type KnownOwner = { email: string; hasPassword: boolean };

export type KnownInstallation = {
  projects: readonly KnownProject[];
  owners: readonly KnownOwner[];
};

const NOTHING: KnownInstallation = { projects: [], owners: [] };

/** The parts that exist already; none before the first setup. */
export async function readInstallation(setup: SetupContext): Promise<KnownInstallation> {
  const { machine } = setup;
  if (!existsSync(machine.path(join(DATA_FOLDER, "mailstead.db")))) return NOTHING;
  if ((await machine.findServiceUser()) === null) return NOTHING;
  const listed = listAt(await runForJson(setup, ["project", "list"]), "projects");
  const projects = await Promise.all(listed.map((each) => readProject(setup, each)));
  const users = listAt(await runForJson(setup, ["user", "list"]), "users");
  const owners = users
    .filter((user) => valueAt(user, "isOwner") === true)
    .map((user) => ({
      email: textOf(user, "email"),
      hasPassword: valueAt(user, "hasPassword") === true,
    }));
  return { projects, owners };
}

async function readProject(setup: SetupContext, listed: unknown): Promise<KnownProject> {
  const id = textOf(listed, "id");
  const answer = await runForJson(setup, ["domain", "list", "--project", id]);
  return {
    id,
    name: textOf(listed, "name"),
    hasSender: valueAt(listed, "sender", "email") !== undefined,
    domains: listAt(answer, "domains").map((each) => textOf(each, "domain")),
  };
}

/** Makes the owner, and returns the link with which they sign in; null if they have a password. */
export async function ensureOwner(
  setup: SetupContext,
  { email, password, known }: { email: string; password: string | null; known: KnownInstallation },
): Promise<string | null> {
  const owner = known.owners.find((each) => each.email === email);
  if (owner?.hasPassword === true) {
    setup.say(`${email} is an owner already. A new sign-in link: mailstead user link ${email}`);
    return null;
  }
  const words = owner === undefined ? ["user", "add", email, "--owner"] : ["user", "link", email];
  if (password !== null) {
    const file = ["--password-file", "-"];
    await runForJson(setup, ["user", "add", email, "--owner", ...file], password);
    setup.say(`${email} is an owner, with the password of the file.`);
    return null;
  }
  return textOf(await runForJson(setup, words), "link");
}

export type EnsuredProject = {
  id: string;
  /** Shown once, when the project is made. */
  keys: { secretKey: string; publicKey: string } | null;
};

export async function ensureProject(
  setup: SetupContext,
  { name, from, known }: { name: string; from: string; known: KnownInstallation },
): Promise<EnsuredProject> {
  const project = known.projects.find((each) => each.name === name);
  const made = project === undefined ? await runForJson(setup, ["project", "create", name]) : null;
  const id = project?.id ?? textOf(made, "project", "id");
  if (project?.hasSender !== true || setup.input.flags["from"] !== undefined) {
    await runForJson(setup, ["project", "set", id, "--from", from]);
  }
  const keys = { secretKey: textOf(made, "secretKey"), publicKey: textOf(made, "publicKey") };
  return { id, keys: made === null ? null : keys };
}

export async function ensureDomain(
  setup: SetupContext,
  { domain, project, known }: { domain: string; project: string; known: KnownInstallation },
): Promise<void> {
  const has = known.projects.find((each) => each.id === project)?.domains.includes(domain);
  if (has !== true) await runForJson(setup, ["domain", "add", domain, "--project", project]);
}

/** Makes the recovery key of backups, whose private half is shown once; null if there is one already. */
export async function ensureRecoveryKey(setup: SetupContext): Promise<string | null> {
  const recipient = setup.input.flags["backup-recipient"];
  const given = recipient === undefined ? [] : ["--recipient", recipient];
  const answer = await runForJson(setup, ["backup", "init", "--if-needed", ...given]);
  const identity = valueAt(answer, "identity");
  return typeof identity === "string" ? identity : null;
}

/** The outcome of the first mail. */
export type TestMail = {
  status: "delivered" | "sent" | "deferred" | "failed" | "waiting";
  /** The reply of the receiving server, or the fault. */
  reason: string;
};

const FIRST_POLL_MS = 200;
const POLL_LIMIT_MS = 45_000;
const REQUEST_LIMIT_MS = 15_000;
const HOUR_MS = 60 * 60_000;

/**
 * Sends a mail to the owner through the interface of the server, with a key that is revoked at the end
 * and that ends after an hour if the setup is killed. The same setup sends it only once a day.
 */
export async function sendTestMail(
  setup: SetupContext,
  mail: { server: string; project: string; to: string; host: string; once: string },
): Promise<TestMail> {
  const expires = new Date(setup.clock.now() + HOUR_MS).toISOString();
  const limits = ["--ip-range", "127.0.0.1,::1", "--expires", expires];
  const words = [
    "key",
    "create",
    "--project",
    mail.project,
    "--name",
    "mailstead setup",
    ...limits,
  ];
  const created = await runForJson(setup, words);
  try {
    return await send(setup, { ...mail, key: textOf(created, "key", "text") });
  } finally {
    await runForJson(setup, ["key", "revoke", textOf(created, "key", "id")]);
  }
}

async function send(
  setup: SetupContext,
  mail: { server: string; to: string; host: string; once: string; key: string },
): Promise<TestMail> {
  const request = async (path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(`${mail.server}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        authorization: `Bearer ${mail.key}`,
        "content-type": "application/json",
        ...(body !== undefined && { "idempotency-key": mail.once }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    });
    const answer: unknown = await response.json();
    return answer;
  };
  const accepted = await request("/v1/send", {
    to: mail.to,
    subject: `Mailstead works on ${mail.host}`,
    body: `<p>This is the first mail of your server ${Bun.escapeHTML(mail.host)}.</p>`,
  });
  const id = textOf(listAt(accepted, "data", "emails")[0], "email");
  if (id === "") {
    const reason = textOf(accepted, "error", "message") || JSON.stringify(accepted);
    return { status: "failed", reason: reason.slice(0, 1_000) };
  }
  const deadline = setup.clock.elapsed() + POLL_LIMIT_MS;
  for (let pauseMs = FIRST_POLL_MS; ; pauseMs *= 1.3) {
    const state = stateOf(await request(`/emails/${id}`));
    if (state.status !== "waiting" || setup.clock.elapsed() > deadline) return state;
    await pause(setup, pauseMs);
  }
}

function stateOf(answer: unknown): TestMail {
  const status = textOf(answer, "data", "status");
  const attempts = listAt(answer, "data", "attempts");
  const attempt = attempts.at(-1);
  const reason = textOf(attempt, "reason") || replyIn(attempt);
  if (["DELIVERED", "OPENED", "CLICKED"].includes(status)) return { status: "delivered", reason };
  if (status === "SENT") return { status: "sent", reason };
  if (["BOUNCED", "FAILED", "SUPPRESSED", "CANCELLED"].includes(status)) {
    return { status: "failed", reason: reason || status };
  }
  return attempts.length > 0
    ? { status: "deferred", reason }
    : { status: "waiting", reason: "it waits in the queue" };
}

/** The reply to the message, or else the last one. */
function replyIn(attempt: unknown): string {
  const steps = listAt(listAt(attempt, "conversations").at(-1), "steps");
  const step = steps.findLast((each) => valueAt(each, "step") === "dot") ?? steps.at(-1);
  const parts = ["code", "enhanced", "text"].map((key) => valueAt(step, key));
  return parts.filter((part) => typeof part === "string" || typeof part === "number").join(" ");
}
