/**
 * The hosts that lead to this server beside the names of the installation: the tracking hosts of projects.
 * Their owner (modules/delivery/) and the listeners (tls/) do not import each other, and meet here.
 */

import { perApp } from "../lib/per-app.ts";

/** Set by the owner of the hosts. */
type Hosts = {
  isHosted: (host: string) => boolean;
  /** The answer to the request of a check, by the last part of its path; null for others. */
  answerCheck: (nonce: string) => string | null;
  /** Part of a change: stores the sealed state of the certificate of a host. */
  storeCertificate: (seq: number, sealed: Buffer) => void;
};

/** Set where certificates are ordered. */
type Certificates = {
  hasCertificate: (host: string) => boolean;
  /** The reason why the CA gave no certificate; null if it has, or was not asked yet. */
  failureOf: (host: string) => string | null;
};

export const hostedNames = perApp((): Hosts & Certificates => ({
  isHosted: () => false,
  answerCheck: () => null,
  storeCertificate: () => {},
  hasCertificate: () => false,
  failureOf: () => null,
}));
