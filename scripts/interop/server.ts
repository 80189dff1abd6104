/** Servers under test: started with a configuration of their own, watched, ended. */

import { readdirSync, readFileSync } from "node:fs";
import net from "node:net";
import { join } from "node:path";
import type { Subprocess } from "bun";

export type MailServer = {
  name: string;
  /** Loopback address that it listens on. */
  address: string;
  /** The messages it has delivered so far, with CRLF line ends. */
  received(): Buffer[];
  stop(): Promise<void>;
};

/** All that were started and have not ended. */
const children = new Set<Subprocess>();

const START_LIMIT_MS = 10_000;

export async function startServer(options: {
  name: string;
  command: readonly string[];
  env?: Record<string, string>;
  /** Listens there once it is ready. */
  address: string;
  port: number;
}): Promise<Subprocess> {
  const { name, command, address, port } = options;
  const child = Bun.spawn([...command], {
    env: { ...process.env, ...options.env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  children.add(child);
  void child.exited.then(() => children.delete(child));
  const deadline = performance.now() + START_LIMIT_MS;
  while (!(await isListening(address, port))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      child.kill("SIGKILL");
      const said = (await child.stderr.text()) + (await child.stdout.text());
      throw new Error(`${name} does not listen on ${address}:${port}: ${said.trim()}`);
    }
    await Bun.sleep(50);
  }
  return child;
}

export async function stopServer(child: Subprocess): Promise<void> {
  child.kill("SIGTERM");
  const hardly = setTimeout(() => child.kill("SIGKILL"), 5_000);
  await child.exited;
  clearTimeout(hardly);
}

/** For an exit in a hurry. */
export function killServers(): void {
  for (const child of children) child.kill("SIGKILL");
}

function isListening(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/** Files of a maildir have bare LF; what was signed had CRLF. */
export function readMaildir(folder: string): Buffer[] {
  return readdirSync(folder).map((file) => {
    const text = readFileSync(join(folder, file)).toString("latin1");
    return Buffer.from(text.replace(/\r?\n/g, "\r\n"), "latin1");
  });
}
