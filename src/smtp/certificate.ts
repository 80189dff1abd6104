/**
 * The certificate of the SMTP listeners: the operator's files, read again when they change, or a
 * self-signed one, made once and stored in the data folder.
 */

import { generateKeyPair, randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describeError, type Log } from "../lib/log.ts";

export type Certificate = { cert: string; key: string };

const STORED_FILE = "smtp-certificate.pem";
const KEY_MARK = "-----BEGIN CERTIFICATE-----";
const SELF_SIGNED_YEARS = 10;

/** Reads the files of the operator. `reload` returns the new certificate after they changed. */
export function createCertificateFiles(files: { cert: string; key: string }, log: Log) {
  let seen = stampOf(files);
  return {
    load: (): Certificate => readFiles(files),

    /** Returns null if the files did not change, or cannot be read now. */
    reload(): Certificate | null {
      try {
        const stamp = stampOf(files);
        if (stamp === seen) return null;
        const certificate = readFiles(files);
        seen = stamp;
        log.info("the certificate was read again", { file: files.cert });
        return certificate;
      } catch (error) {
        log.warn("the certificate could not be read again", { error: describeError(error) });
        return null;
      }
    },
  };
}

function readFiles({ cert, key }: { cert: string; key: string }): Certificate {
  return { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
}

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
