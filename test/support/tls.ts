/**
 * Generates certificates for tests: an authority and a server certificate signed by it, in X.509
 * (RFC 5280). It needs only node:crypto, neither files nor the openssl command.
 */

import { generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";
import { isIP } from "node:net";

export type TestCertificate = {
  /** Private key of the server, in PEM. */
  key: string;
  /** Certificate of the server, in PEM. */
  cert: string;
  /** Certificate of the authority that signed it, in PEM. */
  ca: string;
};

export type CertificateOptions = {
  /** Validity of the certificate; by default it starts a day ago and ends in a year. */
  validFrom?: Date;
  validTo?: Date;
  /** The public key that is certified; by default a new one, whose private key is returned. */
  publicKey?: KeyObject;
};

const DAY_MS = 86_400_000;

/** Generates a certificate for these host names and addresses, signed by a new authority. */
export function makeCertificate(
  hosts: readonly string[],
  options: CertificateOptions = {},
): TestCertificate {
  const authority = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const server = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const validFrom = options.validFrom ?? new Date(Date.now() - DAY_MS);
  const validTo = options.validTo ?? new Date(Date.now() + 365 * DAY_MS);
  const common = { issuer: "Test authority", signer: authority.privateKey, validFrom, validTo };
  const ca = certificate({
    ...common,
    subject: "Test authority",
    key: authority.publicKey,
    extensions: [extension(BASIC_CONSTRAINTS, sequence(tlv(0x01, Buffer.of(0xff))), true)],
  });
  const cert = certificate({
    ...common,
    subject: hosts[0] ?? "none",
    key: options.publicKey ?? server.publicKey,
    extensions: [
      extension(SUBJECT_ALT_NAME, sequence(...hosts.map(generalName)), false),
      extension(AUTHORITY_KEY_IDENTIFIER, sequence(tlv(0x80, randomBytes(20))), false),
    ],
  });
  const key = server.privateKey.export({ type: "pkcs8", format: "pem" });
  return { key, cert: pem(cert), ca: pem(ca) };
}

type CertificateFields = {
  subject: string;
  issuer: string;
  key: KeyObject;
  signer: KeyObject;
  validFrom: Date;
  validTo: Date;
  extensions: Buffer[];
};

/** Encodes and signs a certificate (RFC 5280 §4.1). */
function certificate(subject: CertificateFields): Buffer {
  const algorithm = sequence(oid(ECDSA_WITH_SHA256));
  const body = sequence(
    tlv(0xa0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(1), randomBytes(8)])),
    algorithm,
    name(subject.issuer),
    sequence(time(subject.validFrom), time(subject.validTo)),
    name(subject.subject),
    subject.key.export({ type: "spki", format: "der" }),
    tlv(0xa3, sequence(...subject.extensions)),
  );
  return sequence(body, algorithm, bitString(sign("sha256", body, subject.signer)));
}

const ECDSA_WITH_SHA256 = "2a8648ce3d040302";
const COMMON_NAME = "550403";
const BASIC_CONSTRAINTS = "551d13";
const SUBJECT_ALT_NAME = "551d11";
const AUTHORITY_KEY_IDENTIFIER = "551d23";

function extension(id: string, value: Buffer, isCritical: boolean): Buffer {
  const critical = isCritical ? [tlv(0x01, Buffer.of(0xff))] : [];
  return sequence(oid(id), ...critical, tlv(0x04, value));
}

/** Encodes a subject alternative name as dNSName or iPAddress (RFC 5280 §4.2.1.6). */
function generalName(host: string): Buffer {
  if (isIP(host) === 4) return tlv(0x87, Buffer.from(host.split(".").map(Number)));
  if (host === "::1") return tlv(0x87, Buffer.concat([Buffer.alloc(15), Buffer.of(1)]));
  return tlv(0x82, Buffer.from(host, "ascii"));
}

function name(commonName: string): Buffer {
  return sequence(tlv(0x31, sequence(oid(COMMON_NAME), tlv(0x0c, Buffer.from(commonName)))));
}

/** Encodes a time as GeneralizedTime, `YYYYMMDDHHMMSSZ`. */
function time(at: Date): Buffer {
  return tlv(0x18, Buffer.from(`${at.toISOString().replace(/[-:T]/g, "").slice(0, 14)}Z`));
}

function sequence(...parts: Buffer[]): Buffer {
  return tlv(0x30, Buffer.concat(parts));
}

function oid(hex: string): Buffer {
  return tlv(0x06, Buffer.from(hex, "hex"));
}

function integer(bytes: Buffer): Buffer {
  return tlv(0x02, bytes);
}

function bitString(bytes: Buffer): Buffer {
  return tlv(0x03, Buffer.concat([Buffer.of(0), bytes]));
}

/** Encodes a tag, a length and a value (X.690 §8.1). */
function tlv(tag: number, value: Buffer): Buffer {
  const { length } = value;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), value]);
  const header = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...header), value]);
}

function pem(der: Buffer): string {
  const lines = der.toString("base64").replace(/.{64}/g, "$&\n").trimEnd();
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}
