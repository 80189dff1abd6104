/**
 * The command `mailstead sendmail`: takes a message on standard input like the sendmail of a mail
 * server, and sends it over SMTP.
 */

import type { Command } from "./command.ts";

export const sendmail: Command = {
  name: "sendmail",
  summary: "Send the message on standard input, as the sendmail that PHP, Ruby and others call",
  details:
    "  -t              also take the recipients in To, Cc and Bcc\n" +
    "  -i, -oi         a line with a single dot does not end the message\n" +
    "  -f ADDRESS      sender of the envelope\n" +
    "  -F NAME         name of the sender, for a message without From\n" +
    "  -S HOST:PORT    server (also --smtp-addr); without it, the listener of mailstead dev (--capture-smtp in\n" +
    "                  MAILSTEAD_CAPTURE_SMTP, or 127.0.0.1:1025)\n\n" +
    "Options of sendmail that say how a server works (-em, -odb, -O, -B, -N and their kind) have no\n" +
    "effect. Bcc is removed; Date, From and Message-ID are added if they are absent. The exit codes\n" +
    "are those of sysexits.h.\n\n" +
    '  sendmail_path = "/usr/local/bin/mailstead sendmail -t -i"     (php.ini)',
  positionals: [{ name: "RECIPIENTS", isOptional: true, help: "Addresses" }],
  flags: [],
  settings: [],
  isRaw: true,
  run: async (input) => {
    // Loaded only by this command: with nodemailer it takes 13 ms and 12 MiB.
    const { runSendmail } = await import("./sendmail/run.ts");
    return runSendmail(input);
  },
};
