/** Why a mailbox cannot be read. The message is one line for the operator, without the password. */

/**
 * - connect: no address, no connection, or the TLS handshake failed.
 * - timeout: the server was silent for too long, or the session lasted too long.
 * - closed: the server ended the session.
 * - login: the server refused the name or the password.
 * - refused: the server refused another command.
 * - protocol: the server sent something that does not belong there, or too much of it.
 */
type FaultKind = "connect" | "timeout" | "closed" | "login" | "refused" | "protocol";

export class MailboxFault extends Error {
  readonly kind: FaultKind;

  constructor(kind: FaultKind, message: string) {
    super(message);
    this.name = "MailboxFault";
    this.kind = kind;
  }
}

const MAX_QUOTED = 200;

/** The beginning of what a server said, printable and without the secrets, which servers may repeat. */
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
