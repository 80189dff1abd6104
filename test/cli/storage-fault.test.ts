/**
 * A server whose database files are deleted while it runs, and its stop. Damage, and the end of the
 * process after it: process.test.ts. All kinds of faults: test/http/storage-fault.test.ts.
 */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StorageFaultError } from "../../src/db/fault.ts";
import type { Io } from "../../src/cli/io.ts";
import { main } from "../../src/cli/run.ts";
import {
  clientOf,
  mailstead,
  startMailstead,
  stopServers,
  testStreams,
} from "../support/command-line.ts";
import { listAt, valueAt, stringAt } from "../support/json.ts";

const MAILS = 5;

let parent: string;
let whole: string;
let key: string;
beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), "mailstead-fault-"));
  whole = join(parent, "whole");
  const made = await mailstead(["project", "create", "Shop", "--json", "--data", whole]);
  key = stringAt(made.json, "secretKey");
});
afterAll(async () => {
  await stopServers();
  rmSync(parent, { recursive: true, force: true });
});

/** Starts a server on a copy of the installation, and sends some mail through it. */
async function startServer(name: string) {
  const data = join(parent, name);
  cpSync(whole, data, { recursive: true });
  const words = ["serve", "--data", data, "--port", "0", "--json", "--log-format", "json"];
  const start = () => startMailstead([...words, "--require-verified-domain", "false"]);
  const server = await start();
  const accepted = Array.from({ length: MAILS }, (_, n) => `c${n}@example.com`);
  for (const to of accepted) expect(await send(server, to)).toBe(200);
  return { data, server, start, accepted };
}

async function send(server: { greeting: string }, to: string): Promise<number> {
  const mail = { to, from: "a@shop.test", subject: "Hi", body: "b" };
  return (await clientOf(server, key)("POST", "/v1/send", mail)).status;
}

function errorsIn(log: string): unknown[] {
  const lines = log.split("\n").filter((line) => line !== "");
  return lines
    .map((line): unknown => JSON.parse(line))
    .filter((line) => valueAt(line, "level") === "error");
}

test("after its log was deleted, a stop saves all accepted mail", async () => {
  const { data, server, start, accepted } = await startServer("log");
  rmSync(join(data, "mailstead.db-wal"));
  expect(await send(server, "ada@example.com")).toBe(503);
  const { code, log, isKilled } = await server.stop();
  expect([code, isKilled, errorsIn(log).length]).toEqual([0, false, 1]);
  const second = await start();
  const call = clientOf(second, key);
  // The refused mail may be stored as well: its commit noticed the fault.
  const stored = await call("GET", "/emails?limit=100");
  const recipients = listAt(stored.body, "data.items").map((item) => valueAt(item, "to"));
  expect(recipients).toEqual(expect.arrayContaining(accepted));
  expect(await send(second, "ada@example.com")).toBe(200);
  await second.stop();
});

test("after its folder was deleted, it can be stopped", async () => {
  const { data, server } = await startServer("folder");
  rmSync(data, { recursive: true });
  expect(await send(server, "ada@example.com")).toBe(503);
  const { log, isKilled } = await server.stop();
  expect([isKilled, errorsIn(log).length]).toEqual([true, 1]);
});

/** An error with the stack of an event of a socket. */
async function errorInEvent(): Promise<Error> {
  const { promise, resolve } = Promise.withResolvers<Error>();
  using server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { open: (socket) => void socket.end("hello"), data() {} },
  });
  const socket = net.connect({ host: "127.0.0.1", port: server.port });
  socket.on("data", () => resolve(new Error("a peer's doing")));
  return await promise.finally(() => socket.destroy());
}

test("an error that nothing handled ends the process, unless it is a fault of the storage or of one connection", async () => {
  const streams = testStreams();
  let isFatal: Parameters<Io["onUnhandledError"]>[0] = () => false;
  const io = {
    ...streams.io,
    onUnhandledError: (listener: typeof isFatal) => (isFatal = listener),
  };
  const ended = main(["serve", "--data", join(parent, "new"), "--port", "0", "--json"], io);
  await streams.greeted;
  const fault = { kind: "damaged", file: "mailstead.db", finding: "it is malformed" } as const;
  expect(isFatal(new StorageFaultError(fault), "exception")).toBe(false);
  expect(streams.written.stderr).not.toContain("error");
  const ofPeer = await errorInEvent();
  expect(isFatal(ofPeer, "exception")).toBe(false);
  expect(streams.written.stderr).toMatch(/an unexpected error ends a connection.*a peer's doing/);
  expect(isFatal(ofPeer, "rejection")).toBe(true);
  expect(isFatal(new Error("a defect"), "exception")).toBe(true);
  expect(streams.written.stderr).toMatch(/an unexpected error ends the process.*a defect/);
  streams.stop();
  expect(await ended).toBe(0);
});
