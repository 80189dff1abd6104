/**
 * Runs commands in this process, as `main` does with the streams and signals of a process. The tests
 * in test/cli/process.test.ts run the program in a process of its own (support/cli.ts).
 */

import "./production.ts";
import { tmpdir } from "node:os";
import type { Io } from "../../src/cli/io.ts";
import { main } from "../../src/cli/run.ts";
import { readResponse } from "./app.ts";
import { stringAt } from "./json.ts";

export type Ran = {
  code: number;
  stdout: string;
  stderr: string;
  /** Standard output parsed as JSON; undefined if it is not a JSON object. */
  json: unknown;
};

type Options = {
  env?: Io["env"];
  cwd?: string;
  /** The text on standard input, or a stream that stays open. */
  stdin?: string | ReadableStream<Uint8Array>;
};

/** Runs a command and waits for its end. */
export async function mailstead(
  words: readonly string[],
  env: Io["env"] = {},
  options: Omit<Options, "env"> = {},
): Promise<Ran> {
  const streams = testStreams({ ...options, env });
  const code = await main(words, streams.io);
  streams.end();
  const { stdout, stderr } = streams.written;
  return { code, stdout, stderr, json: stdout.startsWith("{") ? JSON.parse(stdout) : undefined };
}

export type Running = {
  /** Standard output until the server was ready. */
  greeting: string;
  /** Returns the log so far. */
  log(): string;
  /** Asks the server to stop. `isKilled` is true if it ended without closing its database. */
  stop(): Promise<{ code: number; log: string; isKilled: boolean }>;
};

/** Servers that were started here and have not ended. */
const running = new Set<Running>();

/** Starts a server and waits until it has printed its greeting, with `--json` one line. */
export async function startMailstead(
  words: readonly string[],
  options: Options = {},
): Promise<Running> {
  const streams = testStreams(options);
  const ended = main(words, streams.io).finally(streams.end);
  const code = await Promise.race([ended, streams.greeted]);
  if (code !== undefined) {
    const { stdout, stderr } = streams.written;
    throw new Error(`the server ended with ${code}: ${stdout}${stderr}`);
  }
  const server: Running = {
    greeting: streams.written.stdout,
    log: () => streams.written.stderr,
    async stop() {
      running.delete(server);
      streams.stop();
      const exit = await ended;
      return { code: exit, log: streams.written.stderr, isKilled: streams.written.isKilled };
    },
  };
  running.add(server);
  return server;
}

/** Returns a function that calls a server, whose greeting is JSON, with a key. */
export function clientOf({ greeting }: Pick<Running, "greeting">, key: string) {
  const url = stringAt(JSON.parse(greeting), "url");
  return async (method: string, path: string, body?: unknown) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return readResponse(response);
  };
}

/** Stops the servers that a failed test has left. */
export async function stopServers(): Promise<void> {
  await Promise.all([...running].map((server) => server.stop()));
}

export function testStreams({ env = {}, cwd = tmpdir(), stdin = "" }: Options = {}) {
  const stopped = Promise.withResolvers<void>();
  const greeted = Promise.withResolvers<undefined>();
  const written = { stdout: "", stderr: "", isKilled: false };
  const cleanUps: (() => void)[] = [];
  const outputTo = (name: "stdout" | "stderr") => ({
    isTerminal: false,
    line(text: string): void {
      written[name] += `${text}\n`;
      if (name === "stdout") greeted.resolve(undefined);
    },
    async write(text: string): Promise<void> {
      written[name] += text;
    },
  });
  const io: Io = {
    stdin: {
      isTerminal: false,
      stream: () => (typeof stdin === "string" ? new Blob([stdin]).stream() : stdin),
      showTyping() {},
    },
    stdout: outputTo("stdout"),
    stderr: outputTo("stderr"),
    env,
    cwd,
    program: "mailstead",
    untilStopped: () => stopped.promise,
    onReload: () => () => {},
    onEnd: (cleanUp) => void cleanUps.push(cleanUp),
    // The test runner fails a test with an error that nothing handled.
    onUnhandledError() {},
    endStart() {},
    async kill() {
      written.isKilled = true;
    },
  };
  return {
    io,
    written,
    greeted: greeted.promise,
    stop: () => stopped.resolve(),
    end() {
      for (const cleanUp of cleanUps) cleanUp();
    },
  };
}
