/** Runs the server as a child process with --transport direct and the name server of the test. */

import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { run } from "./packages.ts";
import { startServer, stopServer } from "./server.ts";
import type { InteropMail } from "./mails.ts";
import type { ZoneRecord } from "./zone.ts";

const MAIN = join(import.meta.dir, "../../src/main.ts");

const Project = Type.Object({ secretKey: Type.String() });
const Added = Type.Object({
  domain: Type.Object({
    records: Type.Array(
      Type.Object({
        type: Type.Union([Type.Literal("TXT"), Type.Literal("MX")]),
        name: Type.String(),
        value: Type.String(),
        status: Type.String(),
      }),
    ),
  }),
});
const Sent = Type.Object({
  data: Type.Object({ emails: Type.Array(Type.Object({ email: Type.String() }), { minItems: 1 }) }),
});
const Email = Type.Object({
  data: Type.Object({
    status: Type.String(),
    lastError: Type.Union([Type.String(), Type.Null()]),
    attempts: Type.Array(
      Type.Object({
        conversations: Type.Array(
          Type.Object({
            host: Type.String(),
            tls: Type.Union([Type.Object({ version: Type.String() }), Type.Null()]),
            steps: Type.Array(Type.Object({ step: Type.String(), text: Type.String() })),
          }),
        ),
      }),
    ),
  }),
});
export type EmailState = {
  status: string;
  lastError: string | null;
  hosts: string[];
  tls: string[];
  attempts: number;
  /** Whether the last reply to EHLO in each conversation that has one offers PIPELINING. */
  pipelining: boolean[];
};

export type PreparedSender = Awaited<ReturnType<typeof prepareSender>>;
export type RunningSender = Awaited<ReturnType<PreparedSender["start"]>>;

/** Creates a data folder with a project; domains are added and verified before the server starts. */
export async function prepareSender(options: { home: string; hostname: string }) {
  const shared = ["--data", options.home];
  const sending = ["--hostname", options.hostname, "--transport", "direct"];

  async function command(words: readonly string[]): Promise<unknown> {
    const result = await run([process.execPath, MAIN, ...words, "--json"]);
    if (result.code !== 0)
      throw new Error(`mailstead ${words.join(" ")}: ${result.err}${result.out}`);
    return JSON.parse(result.out);
  }

  const created = await command(["project", "create", "Interop", ...shared]);
  const { secretKey } = Value.Parse(Project, created);

  return {
    /** Adds a domain and returns the records that its owner would publish. */
    async addDomain(domain: string): Promise<ZoneRecord[]> {
      const added = await command(["domain", "add", domain, ...shared, ...sending]);
      return Value.Parse(Added, added).domain.records;
    },

    /** Verifies a domain and returns the records that the name server does not have. */
    async verify(domain: string, dnsPort: number): Promise<string[]> {
      const dns = ["--dns", `127.0.0.1:${dnsPort}`];
      const verified = await command(["domain", "verify", domain, ...shared, ...sending, ...dns]);
      return Value.Parse(Added, verified).domain.records.flatMap(({ name, type, status }) =>
        status === "OK" ? [] : [`${type} ${name} is ${status}`],
      );
    },

    secretKey,

    /** `settings` are further words of the command. */
    async start(
      ports: { http: number; dns: number; smtp: number },
      settings: readonly string[] = [],
    ) {
      const child = await startServer({
        name: "mailstead",
        command: [
          process.execPath,
          MAIN,
          "serve",
          ...shared,
          ...sending,
          `--port=${ports.http}`,
          `--dns=127.0.0.1:${ports.dns}`,
          `--direct-port=${ports.smtp}`,
          "--allow-private-addresses=true",
          "--send-rate=0",
          "--log-level=warn",
          ...settings,
        ],
        address: "127.0.0.1",
        port: ports.http,
      });
      const base = `http://127.0.0.1:${ports.http}`;

      async function call(path: string, body?: unknown): Promise<unknown> {
        const response = await fetch(`${base}${path}`, {
          method: body === undefined ? "GET" : "POST",
          headers: { authorization: `Bearer ${secretKey}`, "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
        return JSON.parse(text);
      }

      return {
        call,
        /** Sends a mail through the API; resolves to the id of the email. */
        async send(mail: InteropMail, domain: string): Promise<string> {
          const { name, local = "ada" } = mail.to;
          const sent = await call("/v1/send", {
            to: { email: `${local}@${domain}`, ...(name === undefined ? {} : { name }) },
            from: mail.from,
            subject: mail.subject,
            body: mail.html,
            headers: { ...mail.headers, "X-Interop": mail.name },
            attachments: (mail.attachments ?? []).map(({ content, ...rest }) => ({
              ...rest,
              content: content.toString("base64"),
            })),
          });
          return Value.Parse(Sent, sent).data.emails[0]?.email ?? "";
        },
        /** Sends mails to different recipients of a domain; resolves to their ids. */
        async sendBatch(mail: InteropMail, domain: string, count: number): Promise<string[]> {
          const sent = await call("/v1/send", {
            to: Array.from({ length: count }, (_, i) => `person-${i}@${domain}`),
            from: mail.from,
            subject: mail.subject,
            body: mail.html,
            headers: { "X-Interop": mail.name },
          });
          return Value.Parse(Sent, sent).data.emails.map(({ email }) => email);
        },
        async state(id: string): Promise<EmailState> {
          const { data } = Value.Parse(Email, await call(`/emails/${id}`));
          const conversations = data.attempts.flatMap((attempt) => attempt.conversations);
          return {
            status: data.status,
            lastError: data.lastError,
            hosts: conversations.map(({ host }) => host),
            tls: conversations.map(({ tls }) => tls?.version ?? "none"),
            attempts: data.attempts.length,
            pipelining: conversations.flatMap(({ steps }) => {
              const reply = steps.findLast(({ step }) => step === "ehlo");
              return reply === undefined ? [] : [reply.text.includes("PIPELINING")];
            }),
          };
        },
        stop: () => stopServer(child),
      };
    },
  };
}
