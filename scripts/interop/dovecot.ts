/** Starts Dovecot with one mailbox, which is read by IMAP and POP3 over TLS. */

import { chownSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startServer, stopServer } from "./server.ts";

/** Users that exist on every Debian system. Dovecot wants different ones. */
const MAIL_UID = 8;
const LOGIN_USER = "games";
const INTERNAL_USER = "nobody";

type Options = {
  /** Folder of the unpacked packages; "" if Dovecot is installed. */
  root: string;
  home: string;
  login: { username: string; password: string };
  ports: { imap: number; pop3: number };
  certificate: { key: string; cert: string };
};

export type Dovecot = {
  /** Puts a message into the mailbox. */
  deliver(raw: string): void;
  /** The flags of the messages: `S` for a seen one, and none for a new one. */
  flags(): string[];
  stop(): Promise<void>;
};

export async function startDovecot(options: Options): Promise<Dovecot> {
  const { home, ports, certificate } = options;
  const maildir = join(home, "mail");
  const folders = ["cur", "new", "tmp"].map((name) => join(maildir, name));
  for (const folder of [home, maildir, ...folders]) {
    mkdirSync(folder, { recursive: true });
    chownSync(folder, MAIL_UID, MAIL_UID);
  }
  writeFileSync(join(home, "cert.pem"), certificate.cert);
  writeFileSync(join(home, "key.pem"), certificate.key, { mode: 0o600 });
  writeFileSync(join(home, "dovecot.conf"), configuration(options));
  const child = await startServer({
    name: "Dovecot",
    command: command(options),
    address: "127.0.0.1",
    port: ports.pop3,
  });
  let messages = 0;
  return {
    deliver(raw) {
      const file = join(maildir, "new", `${Date.now()}.${++messages}.interop`);
      writeFileSync(file, raw.replaceAll("\r\n", "\n"));
      chownSync(file, MAIL_UID, MAIL_UID);
    },
    flags: () => [
      ...readdirSync(join(maildir, "new")).map(() => ""),
      ...readdirSync(join(maildir, "cur")).map((file) => file.split(":2,")[1] ?? ""),
    ],
    stop: () => stopServer(child),
  };
}

/**
 * Dovecot finds its modules in /usr/lib only. If it is not installed, its process and its children
 * see the unpacked packages over /usr, which needs root; no other process does.
 */
function command({ root, home }: Options): string[] {
  const file = join(home, "dovecot.conf");
  if (root === "") return ["/usr/sbin/dovecot", "-F", "-c", file];
  const script =
    'mount -t overlay overlay -o "lowerdir=$1/usr:/usr" /usr && exec /usr/sbin/dovecot -F -c "$2"';
  return ["unshare", "--mount", "sh", "-c", script, "sh", root, file];
}

const configuration = ({ home, login, ports }: Options): string => `
base_dir = ${home}/run
state_dir = ${home}/state
log_path = ${home}/log
protocols = imap pop3
listen = 127.0.0.1
ssl = required
ssl_cert = <${home}/cert.pem
ssl_key = <${home}/key.pem
default_internal_user = ${INTERNAL_USER}
default_internal_group = nogroup
default_login_user = ${LOGIN_USER}
first_valid_uid = 1
mail_location = maildir:${home}/mail
passdb {
  driver = static
  args = user=${login.username} password=${login.password}
}
userdb {
  driver = static
  args = uid=${MAIL_UID} gid=${MAIL_UID} home=${home}
}
service imap-login {
  inet_listener imap {
    port = 0
  }
  inet_listener imaps {
    port = ${ports.imap}
    ssl = yes
  }
}
service pop3-login {
  inet_listener pop3 {
    port = 0
  }
  inet_listener pop3s {
    port = ${ports.pop3}
    ssl = yes
  }
}
`;
