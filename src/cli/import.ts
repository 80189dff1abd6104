/** The command `mailstead import`: brings the data of another product into a project. */

import type { Command } from "./command.ts";

export const importCommand: Command = {
  name: "import",
  summary: "Bring contacts, templates and the history of another product into a project",
  details:
    "PRODUCT is mailchimp, listmonk, plunk, resend, sendgrid or brevo. FILES are its export: files,\n" +
    "folders or ZIP archives. Without files, the interface of Plunk, Resend, Brevo, SendGrid or listmonk is\n" +
    "read with the key in PLUNK_API_KEY, RESEND_API_KEY, BREVO_API_KEY, SENDGRID_API_KEY or\n" +
    "LISTMONK_API_KEY (USER:TOKEN).\n\n" +
    "The command asks a running server, with the secret key of the project in MAILSTEAD_API_KEY. It first\n" +
    "tries the import, changes nothing and prints what would happen; --apply then does it. Nobody who left\n" +
    "there or here is subscribed. A command that died can be repeated.\n\n" +
    "  mailstead import mailchimp export.zip\n" +
    "  mailstead import mailchimp export.zip --apply",
  positionals: [
    { name: "PRODUCT", help: "mailchimp, listmonk, plunk, resend, sendgrid or brevo" },
    { name: "FILES", isOptional: true, isMany: true, help: "the export of the product" },
  ],
  flags: [
    { name: "apply", help: "Do what the dry run shows" },
    {
      name: "server",
      placeholder: "URL",
      help: "Server of the project (default http://127.0.0.1:3000)",
    },
    { name: "from", placeholder: "URL", help: "Server of the other product, if it is your own" },
    {
      name: "mapping",
      placeholder: "JSON",
      help: "What columns mean, as in POST /contacts/import",
    },
    {
      name: "statuses",
      placeholder: "JSON",
      help: "What unknown statuses mean, as in POST /contacts/import",
    },
    { name: "encoding", placeholder: "NAME", help: "Encoding of the files, if it is not sure" },
  ],
  settings: [],
  run: async (input) => {
    // Loaded only by this command.
    const { runImport } = await import("./import/run.ts");
    return runImport(input);
  },
};
