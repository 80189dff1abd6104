/**
 * Postfix and Exim as the first hop of a mail that fails later: they accept every recipient, and send
 * a report of their own to the return path. The second hop is an SMTP server in this process whose
 * replies depend on the local part of the recipient.
 */

import { SMTPServer } from "smtp-server";
import type { EximParts } from "./exim.ts";

export type BounceRoute = {
  /** Domain whose mail goes to the second hop. */
  behind: string;
  /** Address and port of the second hop. */
  backend: { address: string; port: number };
  /** Host of the return paths, and the port on which our server receives reports. */
  bounceHost: string;
  inboundPort: number;
};

/** Replies of the second hop to RCPT. */
const REPLIES: Readonly<Record<string, readonly [code: number, text: string]>> = {
  unknown: [550, "5.1.1 The mailbox does not exist"],
  full: [552, "5.2.2 The mailbox is full"],
  slow: [451, "4.3.0 Temporary failure, try again later"],
  spam: [550, "5.7.1 Message refused as spam"],
};

class Refusal extends Error {
  readonly responseCode: number;
  constructor([code, text]: readonly [number, string]) {
    super(text);
    this.responseCode = code;
  }
}

/** Starts the second hop, which accepts recipients of other names and drops their mail. */
export async function startBackend(address: string, port: number): Promise<{ stop(): void }> {
  const server = new SMTPServer({
    name: "backend.test",
    disabledCommands: ["AUTH", "STARTTLS"],
    authOptional: true,
    logger: false,
    onRcptTo({ address: recipient }, _, callback) {
      const reply = REPLIES[recipient.split("@")[0] ?? ""];
      callback(reply === undefined ? null : new Refusal(reply));
    },
    onData(stream, _, callback) {
      stream.resume();
      stream.on("end", () => callback());
    },
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.on("error", reject);
  server.listen(port, address, resolve);
  await promise;
  return {
    stop() {
      server.close();
    },
  };
}

/** Lines of main.cf: a report of the delay after 2 s, and no attempt after 8 s. */
export function postfixBounces({ behind, backend, bounceHost, inboundPort }: BounceRoute): string {
  return `relay_domains = ${behind}
transport_maps = inline:{ { ${behind} = relay:[${backend.address}]:${backend.port} }, { ${bounceHost} = smtp:[127.0.0.1]:${inboundPort} } }
virtual_mailbox_maps = inline:{ { ada@postfix.test = all/ }, { away@postfix.test = all/ } }
smtpd_reject_unlisted_recipient = no
smtp_tls_security_level = may
smtp_connection_cache_on_demand = no
delay_warning_time = 2s
maximal_queue_lifetime = 8s
minimal_backoff_time = 2s
maximal_backoff_time = 3s
queue_run_delay = 2s
`;
}

/** Exim with the same delays; it has a local mailbox that is full, and local users. */
export function eximBounces(home: string, route: BounceRoute): EximParts {
  const { behind, backend, bounceHost, inboundPort } = route;
  return {
    words: ["-q2s"],
    main: "delay_warning = 2s : 1h\n",
    routers: `behind:
  driver = manualroute
  domains = ${behind}
  route_list = * ${backend.address}::${backend.port}
  self = send
  transport = remote
reports:
  driver = manualroute
  domains = ${bounceHost}
  route_list = * 127.0.0.1::${inboundPort}
  self = send
  transport = remote
unknown:
  driver = redirect
  local_parts = nobody
  data = :fail: Unknown user
  allow_fail
full:
  driver = accept
  local_parts = quota
  transport = small
`,
    transports: `small:
  driver = appendfile
  directory = ${home}/small
  maildir_format
  quota = 100
  user = mail
  group = mail
remote:
  driver = smtp
  tls_verify_certificates =
  tls_try_verify_hosts =
`,
    retry: `${behind} * F,8s,2s\n${bounceHost} * F,1h,2s`,
  };
}
