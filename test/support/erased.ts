/** Looks for an address in files, in all forms in which a program may have stored it. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const BASE64_SHIFTS = 3;

/** The forms of an address, as octets in lower case. */
function formsOf(address: string): { name: string; bytes: Buffer }[] {
  const upper = address.toUpperCase();
  const texts: [name: string, text: string][] = [
    ["plain", address],
    ["percent-encoded", encodeURIComponent(address)],
    ["quoted-printable", address.replace("@", "=40")],
    ["HTML", address.replace("@", "&#64;")],
  ];
  const utf16 = Buffer.from(address, "utf16le");
  return [
    ...texts.map(([name, text]) => ({ name, bytes: Buffer.from(text.toLowerCase()) })),
    { name: "UTF-16LE", bytes: utf16 },
    { name: "UTF-16BE", bytes: Buffer.from(utf16).swap16() },
    ...[address, upper].flatMap((text) =>
      Array.from({ length: BASE64_SHIFTS }, (_, shift) => ({
        name: `base64 +${shift}`,
        bytes: Buffer.from(base64Core(text, shift)),
      })),
    ),
  ];
}

/** The characters of base64 that depend on the text alone, wherever it begins in a group of three. */
function base64Core(text: string, shift: number): string {
  const encoded = Buffer.from("\0".repeat(shift) + text).toString("base64");
  const skipped = shift === 0 ? 0 : shift + 1;
  return encoded.slice(skipped, encoded.length - 4);
}

/**
 * The places where the address stands below a folder: file and form. Letters of ASCII are compared in
 * any case.
 */
export function findAddress(folder: string, address: string): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const bytes = readFileSync(join(entry.parentPath, entry.name));
    const folded = Buffer.from(bytes);
    for (let i = 0; i < folded.length; i++) {
      const octet = folded[i] ?? 0;
      if (octet >= 0x41 && octet <= 0x5a) folded[i] = octet + 0x20;
    }
    for (const { name, bytes: form } of formsOf(address)) {
      const within = name.startsWith("base64") ? bytes : folded;
      const at = within.indexOf(form);
      if (at === -1) continue;
      const around = bytes.subarray(Math.max(0, at - 60), at + form.length + 60).toString("latin1");
      found.push(`${entry.name} at ${at} (${name}): ${JSON.stringify(around)}`);
    }
  }
  return found;
}
