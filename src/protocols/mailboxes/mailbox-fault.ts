/** The reason why a mailbox cannot be read. The message is one line for the operator, without the password. */

/**
 * - connect: no address, no connection, or the TLS handshake failed.
 * - timeout: the server was silent for too long, or the session lasted too long.
 * - closed: the server ended the session.
 * - login: the server refused the name or the password.
 * - refused: the server refused another command.
 * - unreadable: the server refused to send one message, for now or for good. The session goes on.
 * - protocol: the server sent something that does not belong there, or too much of it.
 */
type FaultKind = "connect" | "timeout" | "closed" | "login" | "refused" | "unreadable" | "protocol";

export class MailboxFault extends Error {
  readonly kind: FaultKind;

  constructor(kind: FaultKind, message: string) {
    super(message);
    this.name = "MailboxFault";
    this.kind = kind;
  }
}

/** RFC 5530 §3. */
const GONE_CODE = /^NO \[(?:EXPUNGEISSUED|NONEXISTENT)\]/i;
const OTHER_CODE = /^(?:NO|BAD|-ERR) \[/i;
/** RFC 1939 §5, RFC 2180 §4.1.2, and usual texts. */
const GONE_TEXT =
  /^(?:NO|-ERR) gone\b|\bno such message\b|\bthere's no message \d|\bmessages? (?:\d+ )?(?:(?:is|are|was|were) (?:already )?(?:gone|deleted|expunged)|(?:no longer|does not) exist)/i;

/**
 * Whether the refusal of a message says that it does not exist any more. If in doubt it does not: the
 * next session does not find a message that is gone, but one that was passed over is never read.
 */
export function isGone(answer: string): boolean {
  return GONE_CODE.test(answer) || (!OTHER_CODE.test(answer) && GONE_TEXT.test(answer));
}

const MAX_QUOTED = 200;

/** The beginning of a reply, printable and without the secrets, which servers may repeat. */
export function quoteServer(text: string, secrets: readonly string[]): string {
  // Lines are read as Latin-1, so a secret with other characters has the form of its octets.
  const forms = secrets.flatMap((secret) => [secret, Buffer.from(secret).toString("latin1")]);
  const shown = forms.reduce(
    (rest, form) => (form === "" ? rest : rest.replaceAll(form, "***")),
    text,
  );
  const line = shown.replaceAll(/[^\x20-\x7e]/g, "?").trim();
  return line.length > MAX_QUOTED ? `${line.slice(0, MAX_QUOTED)}…` : line;
}
