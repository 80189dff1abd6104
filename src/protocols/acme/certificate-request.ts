/** The two structures in DER (X.690) that ACME needs: a request for a certificate, and its identifier. */

import { type KeyObject, sign, type X509Certificate } from "node:crypto";

const ECDSA_WITH_SHA256 = "2a8648ce3d040302";
const EXTENSION_REQUEST = "2a864886f70d01090e";
const SUBJECT_ALT_NAME = "551d11";
/** The tag and the object identifier of authorityKeyIdentifier (RFC 5280 §4.2.1.1). */
const AUTHORITY_KEY_IDENTIFIER = Buffer.from("0603551d23", "hex");

const SEQUENCE = 0x30;
const SET = 0x31;
const OCTET_STRING = 0x04;
/** Context-specific tags. */
const ATTRIBUTES = 0xa0;
const DNS_NAME = 0x82;
const KEY_IDENTIFIER = 0x80;

/** A certificate request for host names (RFC 2986), signed with a P-256 key, in base64url. */
export function certificateRequest(
  names: readonly string[],
  keys: { publicKey: KeyObject; privateKey: KeyObject },
): string {
  const altNames = names.map((name) => tlv(DNS_NAME, Buffer.from(name, "ascii")));
  const extension = tlv(
    SEQUENCE,
    oid(SUBJECT_ALT_NAME),
    tlv(OCTET_STRING, tlv(SEQUENCE, ...altNames)),
  );
  const attribute = tlv(SEQUENCE, oid(EXTENSION_REQUEST), tlv(SET, tlv(SEQUENCE, extension)));
  const version = tlv(0x02, Buffer.of(0));
  const subject = tlv(SEQUENCE);
  const publicKey = keys.publicKey.export({ type: "spki", format: "der" });
  const info = tlv(SEQUENCE, version, subject, publicKey, tlv(ATTRIBUTES, attribute));
  const signature = tlv(0x03, Buffer.of(0), sign("sha256", info, keys.privateKey));
  return tlv(SEQUENCE, info, tlv(SEQUENCE, oid(ECDSA_WITH_SHA256)), signature).toString(
    "base64url",
  );
}

/**
 * The identifier of a certificate for renewal information (RFC 9773 §4.1); null if the certificate
 * does not name the key of its issuer.
 */
export function renewalId(certificate: X509Certificate): string | null {
  const keyIdentifier = authorityKeyIdentifier(certificate.raw);
  if (keyIdentifier === null) return null;
  const { serialNumber } = certificate;
  const serial = Buffer.from(
    serialNumber.padStart(serialNumber.length + (serialNumber.length % 2), "0"),
    "hex",
  );
  // A positive integer whose first bit is set has a zero octet before it.
  const isPadded = (serial[0] ?? 0) >= 0x80;
  const integer = isPadded ? Buffer.concat([Buffer.of(0), serial]) : serial;
  return `${keyIdentifier.toString("base64url")}.${integer.toString("base64url")}`;
}

/** The extension is an OCTET STRING with a SEQUENCE that begins with the identifier of the key. */
function authorityKeyIdentifier(der: Buffer): Buffer | null {
  const found = der.indexOf(AUTHORITY_KEY_IDENTIFIER);
  if (found === -1) return null;
  const at = found + AUTHORITY_KEY_IDENTIFIER.length;
  const [octets, , sequence, , tag, length = 0] = der.subarray(at, at + 6);
  if (octets !== OCTET_STRING || sequence !== SEQUENCE || tag !== KEY_IDENTIFIER) return null;
  const value = der.subarray(at + 6, at + 6 + length);
  return value.length === length && length > 0 && length < 0x80 ? Buffer.from(value) : null;
}

function oid(hex: string): Buffer {
  return tlv(0x06, Buffer.from(hex, "hex"));
}

/** A tag, a length and a value (X.690 §8.1). */
function tlv(tag: number, ...parts: Buffer[]): Buffer {
  const value = Buffer.concat(parts);
  const { length } = value;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), value]);
  const header = length < 0x1_00 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...header), value]);
}
