/** Reads received messages with independent tools and compares them with the sent mails. */

import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { InteropMail } from "./mails.ts";
import { libraryPath, run } from "./packages.ts";
import type { EmailState } from "./sender.ts";
import type { ZoneRecord } from "./zone.ts";

const Addresses = Type.Array(Type.Tuple([Type.String(), Type.String()]));
const ReadMessage = Type.Object({
  case: Type.Union([Type.String(), Type.Null()]),
  subject: Type.String(),
  from: Addresses,
  to: Addresses,
  received: Type.Array(Type.String()),
  longestLine: Type.Integer(),
  dkim: Type.Record(Type.String(), Type.String()),
  html: Type.Union([Type.String(), Type.Null()]),
  text: Type.Union([Type.String(), Type.Null()]),
  attachments: Type.Array(
    Type.Object({
      filename: Type.Union([Type.String(), Type.Null()]),
      type: Type.String(),
      sha256: Type.String(),
      size: Type.Integer(),
    }),
  ),
});
export type ReadMessage = Static<typeof ReadMessage>;

const SCRIPT = join(import.meta.dir, "read.py");

/** Reads the messages with read.py and returns them in the order of `files`. */
export async function readMessages(options: {
  /** Root folder of the dkimpy package. */
  root: string;
  dnsPort: number;
  files: readonly string[];
}): Promise<ReadMessage[]> {
  const { root, dnsPort, files } = options;
  const packages = root === "" ? "" : `${root}/usr/lib/python3/dist-packages`;
  const result = await run(["/usr/bin/python3", SCRIPT, String(dnsPort), ...files], {
    env: { PYTHONPATH: packages, LD_LIBRARY_PATH: libraryPath(root) },
  });
  if (result.code !== 0) throw new Error(`read.py: ${result.err}`);
  return Value.Parse(Type.Array(ReadMessage), JSON.parse(result.out));
}

/** Lists the differences between a sent mail and the received message; empty if there are none. */
export function differences(
  { mail, domain, state }: { mail: InteropMail; domain: string; state: EmailState },
  read: ReadMessage,
): string[] {
  const faults: string[] = [];
  const expect = (name: string, actual: unknown, expected: unknown) => {
    if (Bun.deepEquals(actual, expected)) return;
    faults.push(`${name}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
  };
  expect("status", state.status, "DELIVERED");
  expect("host", state.hosts, [`mx.${domain}`]);
  expect(
    "TLS",
    state.tls.map((version) => /^TLSv1\.[23]$/.test(version)),
    [true],
  );
  expect("TLS in the Received header", /smtps/i.test(read.received[0] ?? ""), true);
  expect("subject", read.subject, mail.subject);
  expect("From", read.from, [[mail.from.name ?? "", toAscii(mail.from.email)]]);
  expect("To", read.to, [[mail.to.name ?? "", `${mail.to.local ?? "ada"}@${domain}`]]);
  expect("HTML", decodeBase64(read.html), mail.html.replace(/\r\n?|\n/g, "\r\n"));
  expect("text alternative", read.text === null, false);
  expect("attachments", read.attachments, (mail.attachments ?? []).map(describeAttachment));
  expect("signatures", read.dkim, { "rsa-sha256": "pass", "ed25519-sha256": "pass" });
  expect("lines within 998 octets", read.longestLine <= 998, true);
  return faults;
}

function describeAttachment({
  filename,
  content,
  contentType,
}: NonNullable<InteropMail["attachments"]>[0]) {
  const sha256 = createHash("sha256").update(content).digest("hex");
  const type = contentType ?? "application/octet-stream";
  return { filename, type, sha256, size: content.length };
}

function decodeBase64(base64: string | null): string | null {
  return base64 === null ? null : Buffer.from(base64, "base64").toString();
}

function toAscii(address: string): string {
  return address.replace("bücher", "xn--bcher-kva");
}

/** Verifies each file with opendkim and the published keys; returns `algorithm verdict` by file. */
export async function runOpendkim(options: {
  root: string;
  home: string;
  records: readonly ZoneRecord[];
  files: readonly string[];
}): Promise<Map<string, string[]>> {
  const { root, home, records, files } = options;
  const keys = records.filter(({ name }) => name.includes("._domainkey."));
  const keyFile = join(home, "opendkim.keys");
  writeFileSync(keyFile, keys.map(({ name, value }) => `${name} ${value}\n`).join(""));
  const settings = join(home, "opendkim.conf");
  writeFileSync(settings, `Mode v\nSyslog no\nUserID root\nTestPublicKeys ${keyFile}\n`);
  const verdicts = new Map<string, string[]>();
  for (const file of files) {
    const result = await run([`${root}/usr/sbin/opendkim`, "-x", settings, "-t", file, "-vv"], {
      env: { LD_LIBRARY_PATH: libraryPath(root) },
    });
    const found = `${result.out}${result.err}`.matchAll(/dkim=(\w+)[^;]*?header\.a=([\w-]+)/g);
    verdicts.set(
      file,
      Array.from(found, ([, verdict, algorithm]) => `${algorithm} ${verdict}`),
    );
  }
  return verdicts;
}
