/**
 * Where a certificate comes from: the operator's files, read again when they change, or a self-signed
 * one, made once and stored in the data folder.
 */

import { createPrivateKey, generateKeyPair, randomBytes, X509Certificate } from "node:crypto";
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ConfigError } from "../config/read.ts";
import { describeError, type Log } from "../lib/log.ts";

export type Certificate = { cert: string; key: string };

const STORED_FILE = "smtp-certificate.pem";
const KEY_MARK = "-----BEGIN CERTIFICATE-----";
const SELF_SIGNED_YEARS = 10;

/** Returns the certificate of a listener. `reload` returns the new one after it has changed. */
export type CertificateSource = {
  load(): Certificate | Promise<Certificate>;
  reload(): Certificate | null;
};

/** Reads the files of the operator, also again after they have changed. */
export function createCertificateFiles(
  files: { cert: string; key: string },
  log: Log,
): { load(): Certificate; reload(): Certificate | null } {
  let seen = "";
  return {
    /** Throws ConfigError if the files cannot be used. */
    load() {
      try {
        seen = stampOf(files);
        return readPair(files);
      } catch (error) {
        throw new ConfigError(`the certificate ${files.cert} cannot be used: ${reasonOf(error)}`);
      }
    },

    /** Returns null if the files did not change, or cannot be used as they are now. */
    reload() {
      try {
        const stamp = stampOf(files);
        if (stamp === seen) return null;
        // The stamp of files that do not fit is kept as well, so that they are reported once.
        seen = stamp;
        const certificate = readPair(files);
        log.info("the certificate was read again", { file: files.cert });
        return certificate;
      } catch (error) {
        log.warn("the certificate could not be read again, so the old one stays in use", {
          file: files.cert,
          error: describeError(error),
        });
        return null;
      }
    },
  };
}

/** Reads both files. Throws if the key is not that of the certificate: each file is replaced alone. */
function readPair(files: { cert: string; key: string }): Certificate {
  const cert = readFileSync(files.cert, "utf8");
  const key = readFileSync(files.key, "utf8");
  requirePair({ cert, key }, `the key in ${files.key}`);
  return { cert, key };
}

/** Throws if the key is not that of the certificate. */
export function requirePair({ cert, key }: Certificate, what = "the key"): void {
  if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return;
  throw new Error(`${what} is not that of the certificate`);
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

function stampOf({ cert, key }: { cert: string; key: string }): string {
  return [cert, key].map((file) => `${statSync(file).mtimeMs} ${statSync(file).size}`).join(" ");
}

/** The self-signed certificate of the data folder, made if there is none. */
export async function selfSignedCertificate(
  folder: string,
  hostname: string,
): Promise<Certificate> {
  const file = join(folder, STORED_FILE);
  if (existsSync(file)) return parseStored(readFileSync(file, "utf8"));
  const made = await makeSelfSigned(hostname);
  const draft = `${file}.new`;
  writeFileSync(draft, `${made.key}\n${made.cert}\n`, { mode: 0o600 });
  renameSync(draft, file);
  return made;
}

async function makeSelfSigned(hostname: string): Promise<Certificate> {
  const { pki, md } = await import("node-forge");
  const { privateKey } = await promisify(generateKeyPair)("rsa", { modulusLength: 2048 });
  const key = privateKey.export({ type: "pkcs8", format: "pem" });
  const signer = pki.privateKeyFromPem(key);
  const certificate = pki.createCertificate();
  certificate.publicKey = pki.setRsaPublicKey(signer.n, signer.e);
  certificate.serialNumber = `01${randomBytes(16).toString("hex")}`;
  certificate.validity.notAfter.setFullYear(
    certificate.validity.notBefore.getFullYear() + SELF_SIGNED_YEARS,
  );
  const name = [{ name: "commonName", value: hostname }];
  certificate.setSubject(name);
  certificate.setIssuer(name);
  certificate.setExtensions([{ name: "subjectAltName", altNames: [{ type: 2, value: hostname }] }]);
  certificate.sign(signer, md.sha256.create());
  return { cert: pki.certificateToPem(certificate), key };
}

function parseStored(text: string): Certificate {
  const at = text.indexOf(KEY_MARK);
  if (at === -1) throw new Error(`${STORED_FILE} has no certificate; delete it to get a new one`);
  return { key: text.slice(0, at), cert: text.slice(at) };
}
