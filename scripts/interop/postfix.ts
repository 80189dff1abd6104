/** Starts Postfix with a configuration that delivers all mail into one maildir. */

import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeCertificate } from "../../test/support/tls.ts";
import { libraryPath } from "./packages.ts";
import { type MailServer, readMaildir, startServer, stopServer } from "./server.ts";

/** A user and a group that exist on every Debian system; Postfix requires that they differ. */
const MAIL_UID = 8;
const GAMES_GID = 60;

const QUEUES = "active bounce corrupt defer deferred flush hold incoming private saved trace".split(
  " ",
);

/** `pipelining`: whether the server offers PIPELINING (RFC 2920). */
export async function startPostfix(options: {
  root: string;
  home: string;
  address: string;
  port: number;
  domains: readonly string[];
  pipelining?: boolean;
  /** Lines of main.cf; they replace earlier ones with the same name. */
  settings?: string;
}): Promise<MailServer> {
  const { root, home, address, port } = options;
  const libraries = libraryPath(root, ["/usr/lib/postfix"]);
  makeFolders(home);
  const tls = makeCertificate(["mx.postfix.test"]);
  writeFileSync(join(home, "etc/tls.pem"), `${tls.key}${tls.cert}`, { mode: 0o600 });
  writeFileSync(join(home, "etc/main.cf"), mainCf(options, libraries));
  writeFileSync(join(home, "etc/master.cf"), masterCf(address, port));
  const child = await startServer({
    name: "Postfix",
    command: [`${root}/usr/lib/postfix/sbin/master`, "-c", join(home, "etc"), "-d"],
    env: { LD_LIBRARY_PATH: libraries, MAIL_CONFIG: join(home, "etc") },
    address,
    port,
  });
  return {
    name: "Postfix",
    address,
    received: () => readMaildir(join(home, "mail/all/new")),
    stop: () => stopServer(child),
  };
}

function makeFolders(home: string): void {
  const folders = ["etc", "data", "queue", "mail/all/new", "mail/all/cur", "mail/all/tmp"];
  for (const folder of folders) mkdirSync(join(home, folder), { recursive: true });
  for (const queue of QUEUES) {
    mkdirSync(join(home, "queue", queue), { mode: 0o700 });
    chownSync(join(home, "queue", queue), MAIL_UID, 0);
  }
  mkdirSync(join(home, "queue/pid"));
  for (const [queue, mode] of [
    ["public", 0o710],
    ["maildrop", 0o730],
  ] as const) {
    mkdirSync(join(home, "queue", queue));
    chownSync(join(home, "queue", queue), MAIL_UID, GAMES_GID);
    chmodSync(join(home, "queue", queue), mode);
  }
  for (const folder of [
    "data",
    "mail",
    "mail/all",
    "mail/all/new",
    "mail/all/cur",
    "mail/all/tmp",
  ]) {
    chownSync(join(home, folder), MAIL_UID, MAIL_UID);
  }
}

function mainCf(
  {
    root,
    home,
    domains,
    pipelining = true,
    settings = "",
  }: {
    root: string;
    home: string;
    domains: readonly string[];
    pipelining?: boolean;
    settings?: string;
  },
  libraries: string,
): string {
  return `compatibility_level = 3.6
queue_directory = ${home}/queue
data_directory = ${home}/data
command_directory = ${root}/usr/sbin
daemon_directory = ${root}/usr/lib/postfix/sbin
shlib_directory = ${root}/usr/lib/postfix
import_environment = LD_LIBRARY_PATH=${libraries} MAIL_CONFIG=${home}/etc TZ=UTC SASL_PATH=${saslPath(root)}
mail_owner = mail
setgid_group = games
myhostname = mx.postfix.test
mydestination =
mynetworks =
inet_interfaces = all
inet_protocols = ipv4
alias_maps =
local_recipient_maps =
virtual_mailbox_domains = ${domains.join(", ")}
virtual_mailbox_base = ${home}/mail
virtual_mailbox_maps = static:all/
virtual_uid_maps = static:${MAIL_UID}
virtual_gid_maps = static:${MAIL_UID}
virtual_minimum_uid = 1
virtual_mailbox_limit = 0
message_size_limit = 52428800
smtpd_relay_restrictions = reject_unauth_destination
smtpd_tls_security_level = may
smtpd_tls_chain_files = ${home}/etc/tls.pem
smtpd_tls_received_header = yes
smtputf8_enable = yes
smtpd_discard_ehlo_keywords = ${pipelining ? "" : "pipelining"}
maillog_file = ${home}/log
maillog_file_prefixes = ${home}
${settings}`;
}

/** Folders of the plug-ins with which Postfix authenticates as a client. */
function saslPath(root: string): string {
  return ["x86_64-linux-gnu", "aarch64-linux-gnu"]
    .map((machine) => `${root}/usr/lib/${machine}/sasl2`)
    .join(":");
}

function masterCf(address: string, port: number): string {
  return `${address}:${port} inet n - n - - smtpd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
tlsmgr unix - - n 1000? 1 tlsmgr
error unix - - n - - error
retry unix - - n - - error
smtp unix - - n - - smtp
relay unix - - n - - smtp
virtual unix - n n - - virtual
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
`;
}
