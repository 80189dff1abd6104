/** AUTH PLAIN and AUTH LOGIN (RFC 4954, RFC 4616). What is sent is a secret and stays one. */

import type { Dialogue } from "./dialogue.ts";
import type { Extensions } from "./extensions.ts";
import type { Failure, Fault } from "./failure.ts";
import type { Reply } from "./reply.ts";

export type Credentials = { user: string; pass: string };

export async function authenticate(
  dialogue: Dialogue,
  extensions: Extensions,
  credentials: Credentials,
): Promise<Failure | null> {
  dialogue.startStep();
  if (extensions.auth.has("PLAIN")) return authPlain(dialogue, credentials);
  if (extensions.auth.has("LOGIN")) return authLogin(dialogue, credentials);
  const cause: Fault = { kind: "auth", message: "the server offers neither PLAIN nor LOGIN" };
  dialogue.note("auth", null, cause);
  return { step: "auth", cause };
}

async function authPlain(dialogue: Dialogue, credentials: Credentials): Promise<Failure | null> {
  const response = base64(`\0${credentials.user}\0${credentials.pass}`);
  const reply = await say(dialogue, credentials, `AUTH PLAIN ${response}`, "AUTH PLAIN");
  return accept(reply, 235);
}

async function authLogin(dialogue: Dialogue, credentials: Credentials): Promise<Failure | null> {
  const asked = await say(dialogue, credentials, "AUTH LOGIN", "AUTH LOGIN");
  if (!isCode(asked, 334)) return accept(asked, 334);
  const user = await say(dialogue, credentials, base64(credentials.user), "(user name)");
  if (!isCode(user, 334)) return accept(user, 334);
  return accept(await say(dialogue, credentials, base64(credentials.pass), "(password)"), 235);
}

function say(dialogue: Dialogue, credentials: Credentials, command: string, shown: string) {
  const { user, pass } = credentials;
  const secrets = [base64(`\0${user}\0${pass}`), base64(user), base64(pass), pass];
  return dialogue.ask({
    step: "auth",
    command,
    shown,
    secrets,
    timeoutMs: dialogue.timeouts.commandMs,
  });
}

function isCode(heard: Reply | Fault, code: number): boolean {
  return heard.kind === "reply" && heard.code === code;
}

function accept(heard: Reply | Fault, code: number): Failure | null {
  return isCode(heard, code) ? null : { step: "auth", cause: heard };
}

function base64(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}
