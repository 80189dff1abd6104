/** Postfix and Exim as clients of the submission listener: a smarthost with AUTH and STARTTLS. */

import type { EximParts } from "./exim.ts";

export type Smarthost = { port: number; secretKey: string };

/** Lines of main.cf. */
export function postfixSubmits({ port, secretKey }: Smarthost): string {
  const host = `[127.0.0.1]:${port}`;
  return `mynetworks = 127.0.0.0/8
smtpd_relay_restrictions = permit_mynetworks, reject
relayhost = ${host}
smtp_tls_security_level = encrypt
smtp_sasl_auth_enable = yes
smtp_sasl_security_options = noanonymous
smtp_sasl_password_maps = inline:{ { ${host} = any:${secretKey} } }
`;
}

export function eximSubmits({ port, secretKey }: Smarthost): EximParts {
  return {
    routers: `smarthost:
  driver = manualroute
  route_list = * 127.0.0.1::${port}
  self = send
  transport = submission
`,
    transports: `submission:
  driver = smtp
  hosts_require_auth = *
  hosts_require_tls = *
  tls_verify_certificates =
  tls_try_verify_hosts =
`,
    authenticators: `plain:
  driver = plaintext
  public_name = PLAIN
  client_send = ^any^${secretKey}
`,
  };
}
