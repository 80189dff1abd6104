/** The messages of the measurement `capture`: text of 2 kB, or a mix with attachments. */

import { randomBytes } from "node:crypto";

export type MessageKind = "text" | "mix";

/** Half of the mix are texts of 2 kB, the others have an attachment, so that the average is 59 kB. */
const TEXT_BYTES = 2_000;
const ATTACHMENT_BYTES = 84_000;
const BOUNDARY = "part-of-the-mix";
const END = "\r\n.\r\n";

const WORDS = "The order was packed today and leaves tomorrow morning by train.\r\n";
const text = WORDS.repeat(Math.ceil(TEXT_BYTES / WORDS.length));
const attachment = (
  randomBytes(ATTACHMENT_BYTES)
    .toString("base64")
    .match(/.{1,76}/g) ?? []
).join("\r\n");

export function subjectOf(number: number, run: string): string {
  return `Order ${run}x${number}x`;
}

/** The message with this number, with the final dot. */
export function messageOf(kind: MessageKind, number: number, run: string): Uint8Array {
  const head =
    `From: Shop <orders@shop.test>\r\nTo: person-${number}@example.net\r\n` +
    `Subject: ${subjectOf(number, run)}\r\nDate: ${new Date().toUTCString()}\r\n` +
    `Message-ID: <${run}-${number}@bench.test>\r\nMIME-Version: 1.0\r\n`;
  const plain = `Content-Type: text/plain; charset=utf-8\r\n\r\n${text}`;
  if (kind === "text" || number % 2 === 0) return Buffer.from(`${head}${plain}${END}`);
  return Buffer.from(
    `${head}Content-Type: multipart/mixed; boundary="${BOUNDARY}"\r\n\r\n` +
      `--${BOUNDARY}\r\n${plain}\r\n--${BOUNDARY}\r\n` +
      `Content-Type: application/pdf; name="order.pdf"\r\nContent-Transfer-Encoding: base64\r\n` +
      `Content-Disposition: attachment; filename="order-${number}.pdf"\r\n\r\n` +
      `${attachment}\r\n--${BOUNDARY}--${END}`,
  );
}
