/** Starts dnsmasq with the given records and without upstream name servers. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { libraryPath } from "./packages.ts";
import { startServer, stopServer } from "./server.ts";

export type ZoneRecord = { type: "TXT" | "MX" | "A"; name: string; value: string };

export async function startDnsmasq(options: {
  root: string;
  home: string;
  port: number;
  records: readonly ZoneRecord[];
}): Promise<{ stop(): Promise<void> }> {
  const { root, home, port, records } = options;
  mkdirSync(home, { recursive: true });
  const file = join(home, "dnsmasq.conf");
  writeFileSync(file, `${[...settings(port), ...records.map(configLine)].join("\n")}\n`);
  const child = await startServer({
    name: "dnsmasq",
    command: [`${root}/usr/sbin/dnsmasq`, "--keep-in-foreground", `--conf-file=${file}`],
    env: { LD_LIBRARY_PATH: libraryPath(root) },
    address: "127.0.0.1",
    port,
  });
  return { stop: () => stopServer(child) };
}

/** Returns settings with which names that are not in the records do not exist. */
function settings(port: number): string[] {
  return [
    `port=${port}`,
    "listen-address=127.0.0.1",
    "bind-interfaces",
    "user=root",
    "pid-file=",
    "no-resolv",
    "no-hosts",
    "local=/test/",
    "local=/example/",
  ];
}

/** Formats a record; a TXT value above 255 octets becomes several strings (RFC 1035 §3.3.14). */
function configLine({ type, name, value }: ZoneRecord): string {
  if (type === "A") return `host-record=${name},${value}`;
  if (type === "TXT") {
    const strings = (value.match(/.{1,255}/g) ?? []).map((text) => `"${text}"`);
    return `txt-record=${name},${strings.join(",")}`;
  }
  const [preference = "10", host = ""] = value.split(" ");
  return `mx-host=${name},${host},${preference}`;
}
