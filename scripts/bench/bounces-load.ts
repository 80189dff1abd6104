/**
 * Helper of bounces.ts: posts a standard report about each mail of a data folder, to its return
 * path. Prints `{seconds, p50, p99, max}`. Without a data folder it posts JSON to the baseline.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { deriveKey } from "../../src/lib/crypto.ts";
import { makeReturnPath } from "../../src/outbox/return-path.ts";
import { parse } from "./children.ts";
import { sendAll } from "./requests.ts";
import { openReader } from "./store.ts";

const Settings = Type.Object({
  port: Type.Number(),
  key: Type.String(),
  connections: Type.Number(),
  reports: Type.Number(),
  data: Type.Union([Type.String(), Type.Null()]),
});

const { port, key, connections, reports, data } = parse(Settings, JSON.parse(Bun.argv[2] ?? "{}"));

/** A report as Postfix writes it, with the header of the returned mail. */
function reportAbout(to: string, returnPath: string): string {
  return [
    "From: MAILER-DAEMON@mx.example.net (Mail Delivery System)",
    `To: ${returnPath}`,
    "Subject: Undelivered Mail Returned to Sender",
    "Auto-Submitted: auto-replied",
    "MIME-Version: 1.0",
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    "",
    "--b",
    "Content-Type: text/plain; charset=us-ascii",
    "",
    "This is the mail system at host mx.example.net.",
    "I'm sorry to have to inform you that your message could not be delivered.",
    "",
    "--b",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns; mx.example.net",
    "",
    `Final-Recipient: rfc822; ${to}`,
    "Action: failed",
    "Status: 5.1.1",
    "Diagnostic-Code: smtp; 550 5.1.1 User unknown",
    "",
    "--b",
    "Content-Type: text/rfc822-headers",
    "",
    "From: hello@shop.test",
    `To: ${to}`,
    "Subject: Your order",
    "",
    "--b--",
    "",
  ].join("\r\n");
}

/** The requests about all mails of a data folder, or as many of the baseline. */
function prepareRequests(): string[] {
  if (data === null) {
    const body = JSON.stringify({ report: reportAbout("ada@example.net", "b+x@bounce.shop.test") });
    return Array.from({ length: reports }, () => request("/echo", "application/json", body));
  }
  const secret = readFileSync(join(data, "secret"), "utf8").trim();
  const returnPaths = deriveKey(secret, "return-paths");
  const reader = openReader(data);
  const mails = reader.texts("SELECT id || ' ' || to_address AS text FROM emails");
  reader.close();
  return mails.map((text) => {
    const [id = "", to = ""] = text.split(" ");
    const returnPath = makeReturnPath(returnPaths, id, "bounce.shop.test") ?? "";
    const path = `/v1/bounces?recipient=${encodeURIComponent(returnPath)}`;
    return request(path, "message/rfc822", reportAbout(to, returnPath));
  });
}

function request(path: string, type: string, body: string): string {
  return (
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  );
}

const requests = prepareRequests();
const result = await sendAll({
  port,
  connections,
  requests: requests.length,
  request: (number) => requests[number] ?? "",
});
console.log(JSON.stringify(result));
process.exit(0);
