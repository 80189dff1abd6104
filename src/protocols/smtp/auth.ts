/** AUTH PLAIN and AUTH LOGIN (RFC 4954, RFC 4616). The recorded steps contain no secrets. */

import type { Dialogue } from "./dialogue.ts";
import type { Extensions } from "./extensions.ts";
import type { Failure, Fault } from "./failure.ts";
import type { Reply } from "./reply.ts";

export type Credentials = { user: string; password: string };

export async function authenticate(
  dialogue: Dialogue,
  extensions: Extensions,
  credentials: Credentials,
): Promise<Failure | null> {
  dialogue.startStep();
  if (extensions.auth.has("PLAIN")) return authPlain(dialogue, credentials);
  if (extensions.auth.has("LOGIN")) return authLogin(dialogue, credentials);
  const message = "the server offers neither PLAIN nor LOGIN";
  return dialogue.fail("auth", { kind: "auth", message });
}

async function authPlain(dialogue: Dialogue, credentials: Credentials): Promise<Failure | null> {
  const response = base64(`\0${credentials.user}\0${credentials.password}`);
  const reply = await send(dialogue, credentials, `AUTH PLAIN ${response}`, "AUTH PLAIN");
  return expect(reply, 235);
}

async function authLogin(dialogue: Dialogue, credentials: Credentials): Promise<Failure | null> {
  const challenge = await send(dialogue, credentials, "AUTH LOGIN", "AUTH LOGIN");
  if (!isCode(challenge, 334)) return expect(challenge, 334);
  const user = await send(dialogue, credentials, base64(credentials.user), "(user name)");
  if (!isCode(user, 334)) return expect(user, 334);
  return expect(await send(dialogue, credentials, base64(credentials.password), "(password)"), 235);
}

function send(dialogue: Dialogue, credentials: Credentials, command: string, recorded: string) {
  const { user, password: pass } = credentials;
  const secrets = [base64(`\0${user}\0${pass}`), base64(user), base64(pass), pass];
  return dialogue.ask({
    step: "auth",
    command,
    recorded,
    secrets,
    timeoutMs: dialogue.timeouts.commandMs,
  });
}

function isCode(answer: Reply | Fault, code: number): boolean {
  return answer.kind === "reply" && answer.code === code;
}

function expect(answer: Reply | Fault, code: number): Failure | null {
  return isCode(answer, code) ? null : { step: "auth", cause: answer };
}

function base64(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}
