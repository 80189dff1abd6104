/** The rule that passwords of SMTP submission are sent in TLS, except within this machine. */

import { isLoopback } from "../protocols/smtp/relay-url.ts";
import { ConfigError } from "./read.ts";
import type { Config } from "./settings.ts";

/** Throws ConfigError for a listener on an address of the network without a certificate. */
export function requireSubmissionCertificate(
  config: Pick<Config, "tls" | "smtpTlsCert" | "submission" | "submissions">,
): void {
  if (config.tls !== "off" || config.smtpTlsCert !== null) return;
  for (const kind of ["submission", "submissions"] as const) {
    const address = config[kind];
    if (address === null || isLoopback(address.host)) continue;
    throw new ConfigError(
      `--${kind} on ${address.host} needs a certificate, because passwords are sent to it; ` +
        "set --tls, or --smtp-tls-cert and --smtp-tls-key, or choose an address such as 127.0.0.1",
    );
  }
}
