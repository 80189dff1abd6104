/** Starts and stops servers as child processes. */

import { readdirSync, readFileSync } from "node:fs";
import net from "node:net";
import { join } from "node:path";
import type { Subprocess } from "bun";

export type MailServer = {
  name: string;
  /** Loopback address on which it listens. */
  address: string;
  /** Returns the messages that it has delivered so far, with CRLF line endings. */
  received(): Buffer[];
  stop(): Promise<void>;
};

/** All child processes that are running. */
const children = new Set<Subprocess>();

const START_LIMIT_MS = 10_000;

export async function startServer(options: {
  name: string;
  command: readonly string[];
  env?: Record<string, string>;
  /** Address and port on which it listens when it is ready. */
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
      const output = (await child.stderr.text()) + (await child.stdout.text());
      throw new Error(`${name} does not listen on ${address}:${port}: ${output.trim()}`);
    }
    await Bun.sleep(50);
  }
  return child;
}

export async function stopServer(child: Subprocess): Promise<void> {
  child.kill("SIGTERM");
  const killTimer = setTimeout(() => child.kill("SIGKILL"), 5_000);
  await child.exited;
  clearTimeout(killTimer);
}

/** Kills all servers without waiting for their end. */
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

/** Returns the messages of a maildir folder with CRLF, as they were signed; the files have bare LF. */
export function readMaildir(folder: string): Buffer[] {
  return readdirSync(folder).map((file) => {
    const text = readFileSync(join(folder, file)).toString("latin1");
    return Buffer.from(text.replace(/\r?\n/g, "\r\n"), "latin1");
  });
}
