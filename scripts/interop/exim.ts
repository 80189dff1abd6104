/**
 * Starts Exim with a configuration that delivers all mail into one maildir. Exim requires a user that
 * its package would create: a mount namespace gives it its own /etc/passwd with that user.
 */

import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeCertificate } from "../../test/support/tls.ts";
import { libraryPath } from "./packages.ts";
import { type MailServer, readMaildir, startServer, stopServer } from "./server.ts";

const MAIL_UID = 8;
const USER = "Debian-exim";

type EximOptions = {
  root: string;
  home: string;
  address: string;
  port: number;
  domains: readonly string[];
  /** Whether the server offers PIPELINING (RFC 2920). */
  pipelining?: boolean;
  /** Parts of the configuration. */
  parts?: EximParts;
};

export type EximParts = {
  main?: string;
  /** Routers that come before the one that delivers all mail into the maildir. */
  routers?: string;
  transports?: string;
  retry?: string;
  authenticators?: string;
  /** Arguments of the program, such as the interval of its queue runs. */
  words?: readonly string[];
};

export async function startExim(options: EximOptions): Promise<MailServer> {
  const { root, home, address, port } = options;
  const program = `${root}/usr/sbin/exim4`;
  const libraries = libraryPath(root);
  for (const folder of ["", "spool", "log", "mail/new", "mail/cur", "mail/tmp"]) {
    mkdirSync(join(home, folder), { recursive: true });
  }
  const tls = makeCertificate(["mx.exim.test"]);
  writeFileSync(join(home, "key.pem"), tls.key);
  writeFileSync(join(home, "cert.pem"), tls.cert);
  writeFileSync(join(home, "exim.conf"), configuration(options, libraries));
  writeFileSync(join(home, "passwd"), appendLine("/etc/passwd", `${USER}:x:8:8::/:/bin/false`));
  writeFileSync(join(home, "group"), appendLine("/etc/group", `${USER}:x:8:`));
  const ownedPaths = ["", "spool", "log", "mail", "mail/new", "mail/cur", "mail/tmp", "key.pem"];
  for (const path of ownedPaths) chownSync(join(home, path), MAIL_UID, MAIL_UID);
  // The dynamic linker ignores LD_LIBRARY_PATH for a program with the set-uid bit.
  if (root !== "") chmodSync(program, 0o755);
  const mounts = ["passwd", "group"].map((file) => `mount --bind ${home}/${file} /etc/${file}`);
  const words = ["-C", join(home, "exim.conf"), "-bdf", ...(options.parts?.words ?? [])];
  const start = [...mounts, `exec ${program} ${words.join(" ")}`].join(" && ");
  const child = await startServer({
    name: "Exim",
    command: ["unshare", "--mount", "sh", "-c", start],
    env: { LD_LIBRARY_PATH: libraries },
    address,
    port,
  });
  return {
    name: "Exim",
    address,
    received: () => readMaildir(join(home, "mail/new")),
    stop: () => stopServer(child),
  };
}

function appendLine(file: string, line: string): string {
  return `${readFileSync(file, "utf8").trimEnd()}\n${line}\n`;
}

function configuration(options: EximOptions, libraries: string): string {
  const { root, home, address, port, domains, pipelining = true, parts = {} } = options;
  return `exim_path = ${root}/usr/sbin/exim4
exim_user = mail
exim_group = mail
never_users =
keep_environment = LD_LIBRARY_PATH
add_environment = LD_LIBRARY_PATH=${libraries}
deliver_drop_privilege = true
spool_directory = ${home}/spool
log_file_path = ${home}/log/%s
pid_file_path = ${home}/spool/exim.pid
primary_hostname = mx.exim.test
domainlist local_domains = ${domains.join(" : ")}
local_interfaces = ${address}
daemon_smtp_ports = ${port}
acl_smtp_rcpt = take
tls_advertise_hosts = *
tls_certificate = ${home}/cert.pem
tls_privatekey = ${home}/key.pem
smtputf8_advertise_hosts = *
pipelining_advertise_hosts = ${pipelining ? "*" : ""}
message_size_limit = 50M
smtp_accept_queue_per_connection = 0
host_lookup =
rfc1413_query_timeout = 0s
${parts.main ?? ""}
begin acl
take:
  accept domains = +local_domains

begin routers
${parts.routers ?? ""}all:
  driver = accept
  domains = +local_domains
  transport = maildir

begin transports
maildir:
  driver = appendfile
  directory = ${home}/mail
  return_path_add
  maildir_format
  user = mail
  group = mail
${parts.transports ?? ""}
begin retry
${parts.retry ?? "* * F,1h,1m"}

begin authenticators
${parts.authenticators ?? ""}`;
}
