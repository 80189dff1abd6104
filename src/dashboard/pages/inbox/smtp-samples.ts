/** The first mail over SMTP in several languages, with the settings of this server. */

import type { Samples } from "../../ui/code.tsx";
import { quoted, shellWord } from "../../ui/shell-word.ts";

export type SmtpSettings = {
  host: string;
  port: number;
  /** Null for the default inbox, which needs no user. */
  login: { user: string; password: string } | null;
  /** Address of the recipient. */
  to: string;
};

export function smtpSamples({ host, port, login, to }: SmtpSettings): Samples {
  const at = login === null ? "" : `${login.user}:${login.password}@`;
  const auth = <T>(text: T) => (login === null ? "" : text);
  return {
    curl: `printf ${quoted(`From: hello@example.org\\nTo: ${inFormat(to)}\\nSubject: Hello\\n\\nIt works.\\n`)} |
  curl ${shellWord(`smtp://${host}:${port}`)} --upload-file - \\
    --mail-from hello@example.org \\
    --mail-rcpt ${shellWord(to)}${auth(` \\\n    --user ${quoted(`${login?.user}:${login?.password}`)}`)}`,
    TypeScript: `import { createTransport } from "nodemailer";

const transport = createTransport({
  host: "${host}",
  port: ${port},${
    login === null ? "" : `\n  auth: { user: "${login.user}", pass: "${login.password}" },`
  }
});
await transport.sendMail({
  from: "hello@example.org",
  to: "${to}",
  subject: "Hello",
  html: "<p>It works.</p>",
});`,
    Python: `import smtplib
from email.message import EmailMessage

message = EmailMessage()
message["From"] = "hello@example.org"
message["To"] = "${to}"
message["Subject"] = "Hello"
message.set_content("It works.")

with smtplib.SMTP("${host}", ${port}) as smtp:
${auth(`    smtp.login("${login?.user}", "${login?.password}")\n`)}    smtp.send_message(message)`,
    PHP: `<?php // composer require symfony/mailer
use Symfony\\Component\\Mailer\\{Mailer, Transport};
use Symfony\\Component\\Mime\\Email;

$mailer = new Mailer(Transport::fromDsn("smtp://${at}${host}:${port}"));
$mailer->send((new Email())
    ->from("hello@example.org")
    ->to("${to}")
    ->subject("Hello")
    ->text("It works."));`,
  };
}

/** A text as printf prints it, whose format has escapes. */
const inFormat = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("%", "%%");
