/**
 * Lets SMTP libraries and programs submit a mail with UTF-8 texts and an attachment, and compares what
 * they sent with what left, octet for octet.
 *
 * `bun scripts/interop-clients.ts [--packages=FOLDER]`
 *
 * The clients are nodemailer, smtplib of Python, PHPMailer, net/smtp of Go, and msmtp. A recorder
 * between client and server keeps the bytes that the client sent; the server runs with --transport
 * capture. PHPMailer and msmtp are fetched as in interop.ts if they are missing. A client whose
 * program is missing is reported, and the exit code is then 1, as for a difference.
 */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { createTransport } from "nodemailer";
import MailComposer from "nodemailer/lib/mail-composer";
import {
  parse,
  removeFolder,
  startServer,
  temporaryFolder,
  twoFreePorts,
} from "./bench/children.ts";
import { SENDER } from "./bench/mail.ts";
import { prepareStore } from "./bench/store.ts";
import { type ClientMail, compareMessages } from "./interop/compare.ts";
import { findPackage, run } from "./interop/packages.ts";
import { startRecorder } from "./interop/recorder.ts";

const PROGRAMS = join(import.meta.dir, "interop/clients");

/** Submits the mail; resolves to the fault, or to null. */
type Submit = (mail: ClientMail & { content: Buffer }, port: number) => Promise<string | null>;

const Emails = Type.Object({
  data: Type.Object({
    items: Type.Array(Type.Object({ id: Type.String(), status: Type.String() })),
  }),
});

const mail: ClientMail & { content: Buffer } = {
  from: SENDER,
  to: "bob@example.net",
  subject: "Grüße aus 東京 🎉 — a subject that is long enough to be folded by every client",
  text: "Grüße, Ada!\n.a line with a dot\n..two dots\n--\n東京 🎉\n",
  html: "<p>Grüße, <b>Ada</b> 🎉</p>",
  filename: "Rechnung März.bin",
  attachment: "",
  content: Buffer.from(Array.from({ length: 5_000 }, (_, i) => (i * 7) % 256)),
};

async function finish(words: readonly string[], options?: Parameters<typeof run>[1]) {
  const { code, err, out } = await run(words, options);
  return code === 0 ? null : `exit code ${code}: ${`${err}${out}`.trim().slice(0, 300)}`;
}

function clients(folder: string, packages: string, key: string): Record<string, Submit> {
  const file = join(folder, "mail.json");
  const program =
    (words: readonly string[]): Submit =>
    async (_, port) =>
      Bun.which(words[0] ?? "") === null
        ? `${words[0]} is missing`
        : finish([...words, String(port), key, file]);
  return {
    nodemailer: async (given, port) => {
      const auth = { user: "any", pass: key };
      const transport = createTransport({ host: "127.0.0.1", port, ignoreTLS: true, auth });
      const { from, to, subject, text, html, filename, content } = given;
      await transport.sendMail({
        from,
        to,
        subject,
        text,
        html,
        attachments: [{ filename, content }],
      });
      transport.close();
      return null;
    },
    "Python smtplib": program(["python3", join(PROGRAMS, "submit.py")]),
    PHPMailer: async (_, port) => {
      if (Bun.which("php") === null) return "php is missing";
      const library = "/usr/share/php/libphp-phpmailer/src";
      const found = await findPackage(packages, ["libphp-phpmailer"], `${library}/PHPMailer.php`);
      if (!found.ok) return found.reason;
      const script = join(PROGRAMS, "submit.php");
      return finish(["php", script, String(port), key, file, found.root + library]);
    },
    "Go net/smtp": program(["go", "run", join(PROGRAMS, "submit.go")]),
    msmtp: async (given, port) => {
      const found = await findPackage(packages, ["msmtp"], "/usr/bin/msmtp");
      if (!found.ok) return found.reason;
      const secret = join(folder, "password");
      writeFileSync(secret, key, { mode: 0o600 });
      const libraries = join(found.root, "usr/lib/x86_64-linux-gnu");
      const words = [
        "--host=127.0.0.1",
        `--port=${port}`,
        "--auth=plain",
        "--user=any",
        "--tls=off",
      ];
      const env = found.root === "" ? {} : { LD_LIBRARY_PATH: libraries };
      return finish(
        [
          join(found.root, "/usr/bin/msmtp"),
          ...words,
          `--passwordeval=cat ${secret}`,
          `--from=${given.from}`,
          given.to,
        ],
        { stdin: await composed(given), env },
      );
    },
  };
}

/** A message with line ends of LF and 8-bit text, as programs pipe it into a client. */
async function composed(given: ClientMail & { content: Buffer }): Promise<Buffer> {
  const { from, to, subject, text, html, filename, content } = given;
  const composer = new MailComposer({
    from,
    to,
    subject,
    text,
    html,
    attachments: [{ filename, content }],
    textEncoding: "base64",
    newline: "unix",
  });
  return composer.compile().build();
}

async function main(folder: string, packages: string): Promise<boolean> {
  const data = temporaryFolder();
  const key = await prepareStore(data, 0);
  const [port, smtpPort] = twoFreePorts();
  const args = ["--transport", "capture", "--submission", `127.0.0.1:${smtpPort}`];
  const server = await startServer({ binary: null, data, port, args });
  const recorder = await startRecorder(smtpPort);
  const given = { ...mail, attachment: join(folder, "attachment.bin") };
  writeFileSync(given.attachment, given.content);
  writeFileSync(join(folder, "mail.json"), JSON.stringify({ ...given, content: undefined }));
  let isRight = true;
  for (const [name, submit] of Object.entries(clients(folder, packages, key))) {
    const before = recorder.messages.length;
    const fault = await submit(given, recorder.port);
    const sent = recorder.messages[before];
    const faults = fault === null ? [] : [fault];
    if (fault === null && sent === undefined) faults.push("the server received no message");
    let shown = "";
    if (faults.length === 0 && sent !== undefined) {
      const result = await compareMessages(sent, await lastMessage(port, key), given);
      shown = `${result.body}; added: ${result.added.join(", ") || "nothing"}`;
      faults.push(...result.faults);
    }
    console.log(`${faults.length === 0 ? "ok    " : "not ok"} ${name.padEnd(16)} ${shown}`);
    for (const each of faults) console.log(`       ${each}`);
    isRight &&= faults.length === 0;
  }
  recorder.close();
  await server.stop();
  removeFolder(data);
  return isRight;
}

/** The message of the newest mail, once it has left. */
async function lastMessage(port: number, key: string): Promise<Buffer> {
  const get = (path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${key}` } });
  for (let round = 0; round < 200; round++) {
    const { data } = parse(Emails, await (await get("/emails?limit=1")).json());
    const [newest] = data.items;
    if (newest?.status === "SENT") {
      return Buffer.from(await (await get(`/emails/${newest.id}/raw`)).arrayBuffer());
    }
    await Bun.sleep(25);
  }
  throw new Error("the mail did not leave");
}

const folder = mkdtempSync(join(tmpdir(), "mailstead-clients-"));
const given = Bun.argv.find((word) => word.startsWith("--packages="))?.slice("--packages=".length);
try {
  process.exitCode = (await main(folder, given ?? join(folder, "packages"))) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
