/** Finds the TCP ports of this machine that are taken, and the program of each: from `/proc`. */

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";

/** A socket that listens; `inode` connects it with the process that holds it. */
type ListeningSocket = { address: string; port: number; inode: number };

export type Listener = {
  address: string;
  port: number;
  /** Null if it is not known: only root may see the sockets of other users. */
  pid: number | null;
  /** Name of the program, such as `exim4`. */
  program: string | null;
  /** The unit of systemd that runs it, such as `exim4.service`. */
  unit: string | null;
};

const LISTEN = "0A";
const MAX_PROCESSES = 50_000;

/** Reads the text of `/proc/net/tcp` or `/proc/net/tcp6`. Lines in another form are skipped. */
export function parseListeningSockets(text: string): ListeningSocket[] {
  return text.split("\n").flatMap((line) => {
    const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
    const [hex = "", port = ""] = local.split(":");
    const address = readHexAddress(hex);
    if (state !== LISTEN || address === null || !/^[0-9A-F]{4}$/.test(port)) return [];
    return [{ address, port: Number.parseInt(port, 16), inode: Number(inode) }];
  });
}

/** The kernel writes the words of an address in the byte order of the machine, which is little-endian. */
function readHexAddress(hex: string): string | null {
  if (!/^(?:[0-9A-F]{8}|[0-9A-F]{32})$/.test(hex)) return null;
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) =>
    Array.from(Buffer.from(word, "hex").toReversed()),
  );
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, i) =>
    (((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0)).toString(16),
  );
  return new URL(`http://[${groups.join(":")}]/`).hostname.slice(1, -1);
}

/** The unit in the text of `/proc/PID/cgroup`; null if no unit runs the process. */
export function parseUnitOfCgroup(text: string): string | null {
  return /\/([^/\n]+\.service)$/m.exec(text)?.[1] ?? null;
}

/** All listening sockets of this network namespace, with their programs as far as they can be seen. */
export function findListeners(): Listener[] {
  const sockets = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((file) =>
    parseListeningSockets(readIfPossible(file) ?? ""),
  );
  if (sockets.length === 0) return [];
  const holders = findHolders(new Set(sockets.map(({ inode }) => inode)));
  return sockets.map(({ address, port, inode }) => {
    const pid = holders.get(inode) ?? null;
    const program = pid === null ? null : (readIfPossible(`/proc/${pid}/comm`)?.trim() ?? null);
    const cgroup = pid === null ? null : readIfPossible(`/proc/${pid}/cgroup`);
    return {
      address,
      port,
      pid,
      program,
      unit: cgroup === null ? null : parseUnitOfCgroup(cgroup),
    };
  });
}

/** The process of each inode. */
function findHolders(inodes: ReadonlySet<number>): Map<number, number> {
  const holders = new Map<number, number>();
  const processes = listIfPossible("/proc").filter((name) => /^\d+$/.test(name));
  for (const pid of processes.slice(0, MAX_PROCESSES)) {
    for (const name of listIfPossible(`/proc/${pid}/fd`)) {
      const inode = inodeOfLink(`/proc/${pid}/fd/${name}`);
      if (inode !== null && inodes.has(inode)) holders.set(inode, Number(pid));
    }
  }
  return holders;
}

function inodeOfLink(path: string): number | null {
  try {
    const digits = /^socket:\[(\d+)\]$/.exec(readlinkSync(path))?.[1];
    return digits === undefined ? null : Number(digits);
  } catch {
    return null; // The process has ended or closed the file meanwhile.
  }
}

function listIfPossible(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // The process has ended, or belongs to another user.
  }
}

function readIfPossible(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null; // As above; a system without IPv6 has no tcp6.
  }
}

const WILDCARDS: readonly string[] = ["0.0.0.0", "::"];

/** The listener that keeps a server from listening on the address; null if the port is free there. */
export function findConflict(
  wanted: { host: string; port: number },
  listeners: readonly Listener[],
): Listener | null {
  const taken = listeners.filter(({ port }) => port === wanted.port);
  return taken.find(({ address }) => overlap(address, wanted.host)) ?? null;
}

/** True if one port cannot be listened on at both addresses. */
export function overlap(a: string, b: string): boolean {
  return a === b || WILDCARDS.includes(a) || WILDCARDS.includes(b);
}

/** True for a server of ours, which a restart asks to give its ports back. */
export const isOwnListener = ({ program }: Listener): boolean => program === "mailstead";

/** For people, such as “exim4 (process 812)”. */
export function nameOfListener({ program, pid }: Listener): string {
  if (pid === null) return "another program";
  return `${program === null ? "a program" : basename(program)} (process ${pid})`;
}

/** The advice how to free the port. */
export function howToStop({ unit, pid }: Listener): string {
  if (unit !== null) return `systemctl disable --now ${unit}`;
  return pid === null ? "find it as root: ss -ltnp" : `stop process ${pid}`;
}
