/** The workers of the soak test: each repeats one kind of request until the test ends. */

import net from "node:net";
import { SENDER } from "../bench/mail.ts";

export type SoakTarget = { port: number; secretKey: string; publicKey: string };

/** Number of requests by `worker: status`; the status is `aborted` if the worker closed the connection. */
export type SoakCounts = Map<string, number>;

type Worker = { name: string; pauseMs: number; step: (n: number) => Promise<string> };

const MIB = 1024 * 1024;

/** Workers that use the API normally, with different data in each request. */
function ordinaryWorkers(target: SoakTarget): Worker[] {
  const call = (method: string, path: string, body?: unknown, key = target.secretKey) =>
    fetch(`http://127.0.0.1:${target.port}${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).then(async (answer) => {
      await answer.arrayBuffer();
      return String(answer.status);
    });
  const address = (n: number) => `person-${n % 20_000}@example.net`;
  return [
    {
      name: "send",
      pauseMs: 10,
      step: (n) =>
        call("POST", "/v1/send", {
          to: address(n),
          from: SENDER,
          subject: `Order {{ number }}`,
          body: `<p>Thank you, {{ name ?? friend }}, for order ${n}.</p>`,
          data: { number: n },
        }),
    },
    {
      name: "send to 200",
      pauseMs: 2_000,
      step: (n) =>
        call("POST", "/v1/send", {
          to: Array.from({ length: 200 }, (_, i) => address(n * 200 + i)),
          from: SENDER,
          subject: "News",
          body: `<p>Issue ${n}</p>`,
        }),
    },
    {
      name: "track with a public key",
      pauseMs: 80,
      step: (n) =>
        call(
          "POST",
          "/v1/track",
          { event: `event-${n % 7}`, email: address(n), data: { n } },
          target.publicKey,
        ),
    },
    {
      name: "contacts",
      pauseMs: 20,
      step: (n) => call("POST", "/contacts", { email: address(n), data: { visits: n } }),
    },
    { name: "list contacts", pauseMs: 50, step: () => call("GET", "/contacts?limit=100") },
    { name: "list emails", pauseMs: 100, step: () => call("GET", "/emails?limit=50&status=SENT") },
    { name: "list events", pauseMs: 100, step: () => call("GET", "/events?limit=50") },
  ];
}

/** Workers whose requests are refused, or whose connections end before the request is complete. */
function hostileWorkers(target: SoakTarget): Worker[] {
  const send = (path: string, key: string, body: string | Uint8Array<ArrayBuffer>) =>
    fetch(`http://127.0.0.1:${target.port}${path}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body,
    }).then(async (answer) => {
      await answer.arrayBuffer();
      return String(answer.status);
    });
  const objects = `{"event":"x","email":"a@example.net","data":[${"{},".repeat(60_000)}{}]}`;
  const deep = `{"to":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
  return [
    {
      name: "many objects",
      pauseMs: 300,
      step: () => send("/v1/track", target.publicKey, objects),
    },
    { name: "deep nesting", pauseMs: 300, step: () => send("/v1/send", target.secretKey, deep) },
    {
      name: "20 MiB of zero bytes",
      pauseMs: 3_000,
      step: () => send("/v1/send", target.secretKey, new Uint8Array(20 * MIB)),
    },
    {
      name: "wrong key",
      pauseMs: 200,
      step: () => send("/v1/send", "sk_wrong", "{}"),
    },
    {
      name: "endless template",
      pauseMs: 5_000,
      step: (n) =>
        send(
          "/v1/send",
          target.secretKey,
          JSON.stringify({
            to: `person-${n}@example.net`,
            from: SENDER,
            subject: "s",
            body: "{% for i in (1..900000) %}{% for j in (1..900000) %}{% endfor %}{% endfor %}",
          }),
        ),
    },
    { name: "truncated body", pauseMs: 50, step: (n) => sendPartialBody(target, n) },
    {
      name: "malformed chunks",
      pauseMs: 100,
      step: () => sendRaw(target, chunkedRequest(target), 20),
    },
    {
      name: "bytes that are not HTTP",
      pauseMs: 100,
      step: () => sendRaw(target, "\0\x01garbage\r\n\r\n", 20),
    },
  ];
}

function sendPartialBody({ port, secretKey }: SoakTarget, n: number): Promise<string> {
  const body = `{"to":"a@example.net","from":"${SENDER}","subject":"s","body":"`;
  const text =
    `POST /v1/send HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${secretKey}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${100_000 + n}\r\n\r\n${body}`;
  return sendRaw({ port }, text, 5);
}

function chunkedRequest({ secretKey }: SoakTarget): string {
  return (
    `POST /v1/send HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${secretKey}\r\n` +
    "Transfer-Encoding: chunked\r\n\r\nzz\r\nnot a chunk\r\n"
  );
}

/** Writes bytes and closes the connection after `ms` milliseconds. */
function sendRaw({ port }: Pick<SoakTarget, "port">, text: string, ms: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = net.connect({ host: "127.0.0.1", port }, () => {
    socket.write(text);
    setTimeout(() => socket.destroy(), ms);
  });
  socket.on("error", () => socket.destroy());
  socket.on("data", () => {});
  socket.on("close", () => resolve("aborted"));
  return promise;
}

/** Runs all workers concurrently until `isOver` returns true; returns the counts of their responses. */
export async function runLoad(target: SoakTarget, isOver: () => boolean): Promise<SoakCounts> {
  const counts: SoakCounts = new Map();
  const workers = [...ordinaryWorkers(target), ...hostileWorkers(target)];
  const run = async ({ name, pauseMs, step }: Worker) => {
    for (let n = 0; !isOver(); n++) {
      const result = await step(n).catch((error: unknown) => `failed: ${String(error)}`);
      const key = `${name}: ${result}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      await Bun.sleep(pauseMs);
    }
  };
  await Promise.all(workers.map(run));
  return counts;
}
