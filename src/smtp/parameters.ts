/** Parameters of MAIL and RCPT (RFC 5321 §4.1.1.11). */

import type { SMTPServerAddress } from "smtp-server";
import { SmtpRefusal } from "./server.ts";

/** The parameters of the extensions SIZE, 8BITMIME and SMTPUTF8, which the listeners announce. */
export const MAIL_PARAMETERS: ReadonlySet<string> = new Set(["BODY", "SIZE", "SMTPUTF8"]);
/** RFC 4954 §5: a server with AUTH takes this parameter, and may ignore it. */
export const MAIL_PARAMETERS_WITH_AUTH: ReadonlySet<string> = new Set([...MAIL_PARAMETERS, "AUTH"]);
/** Only the extension DSN has parameters of RCPT. */
export const RCPT_PARAMETERS: ReadonlySet<string> = new Set();

const KEYWORD = /^[A-Z0-9][A-Z0-9-]{0,63}$/;

/** Throws the refusal of a command with a parameter of an extension that was not announced. */
export function refuseUnknownParameters(
  { args }: Pick<SMTPServerAddress, "args">,
  known: ReadonlySet<string>,
): void {
  const unknown = args === false ? undefined : Object.keys(args).find((name) => !known.has(name));
  if (unknown === undefined) return;
  const name = KEYWORD.test(unknown) ? `The parameter ${unknown}` : "A parameter";
  throw new SmtpRefusal(555, `5.5.4 ${name} is not supported`);
}
