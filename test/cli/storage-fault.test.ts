/** A server process whose database files are damaged or deleted while it runs. */

import { Database } from "bun:sqlite";
import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readResponse } from "../support/app.ts";
import { mailstead, type Running, startMailstead } from "../support/cli.ts";
import { PAGE_BYTES, scramble, scrambleFrames } from "../support/damage.ts";
import { waitUntil } from "../support/eventually.ts";
import { valueAt, stringAt } from "../support/json.ts";

const CHILD_LIMIT_MS = 60_000;
const MAILS = 20;

const ends: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Starts a server with a project, and sends some mail through it. */
async function startServer() {
  const data = mkdtempSync(join(tmpdir(), "mailstead-fault-"));
  let server = await start();
  ends.push(async () => {
    server.child.kill("SIGKILL");
    await server.child.exited;
    rmSync(data, { recursive: true, force: true });
  });
  const made = await mailstead(["project", "create", "Shop", "--json", "--data", data]);
  await mailstead(["domain", "add", "shop.test", "--verified", "--data", data]);
  const authorization = `Bearer ${stringAt(made.json, "secretKey")}`;

  async function start(): Promise<Running> {
    const words = ["serve", "--data", data, "--port", "0", "--json", "--log-format", "json"];
    return startMailstead(words, (greeting) => greeting.endsWith("}\n"));
  }

  async function call(method: string, path: string, body?: unknown) {
    const response = await fetch(stringAt(JSON.parse(server.greeting), "url") + path, {
      method,
      headers: { authorization, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return readResponse(response);
  }

  const send = async (to: string) =>
    (await call("POST", "/v1/send", { to, from: "a@shop.test", subject: "Hi", body: "b" })).status;
  for (let n = 0; n < MAILS; n++) expect(await send(`c${n}@example.com`)).toBe(200);
  return {
    data,
    file: join(data, "mailstead.db"),
    call,
    send,
    server: () => server,
    async restart(): Promise<void> {
      server = await start();
    },
  };
}

function errorsOf(log: string): unknown[] {
  return log
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line))
    .filter((line) => valueAt(line, "level") === "error");
}

test(
  "refuses requests on a damaged database, logs it once, and does not change its files on stop",
  async () => {
    const { file, call, send, server } = await startServer();
    const other = new Database(file);
    other.run("PRAGMA busy_timeout = 5000"); // The server may be writing.
    other.run("BEGIN IMMEDIATE");
    other.run("INSERT OR REPLACE INTO readiness (id, at) VALUES (1, 1)");
    scramble(file, PAGE_BYTES);
    scrambleFrames(`${file}-wal`);
    // After a commit of another process the server reads its pages again.
    other.run("COMMIT");
    other.close();
    expect(await send("ada@example.com")).toBe(503);
    expect((await call("GET", "/livez")).status).toBe(200);
    expect((await call("GET", "/readyz")).at("error.message")).toBe("The database is damaged.");
    expect((await call("GET", "/contacts")).at("error.code")).toBe("SERVICE_UNAVAILABLE");
    const before = [file, `${file}-wal`].map((path) => readFileSync(path));
    const { code, log } = await server().stop();
    expect([code, server().child.signalCode]).toEqual([null, "SIGKILL"]);
    const after = [file, `${file}-wal`].map((path) => readFileSync(path));
    expect(after.map((bytes, i) => bytes.equals(before[i] ?? Buffer.of()))).toEqual([true, true]);
    expect(errorsOf(log)).toEqual([
      expect.objectContaining({
        message: expect.stringContaining("nothing is stored or sent any more"),
        file,
        recovery: expect.stringContaining("restore the newest backup"),
      }),
    ]);
    expect(log).toContain("the database was not closed");
  },
  CHILD_LIMIT_MS,
);

test(
  "notices a deleted log without any request, and a stop saves all accepted mail",
  async () => {
    const { file, call, send, server, restart } = await startServer();
    rmSync(`${file}-wal`);
    await waitUntil(() => server().log().includes("nothing is stored or sent any more"));
    expect(await send("ada@example.com")).toBe(503);
    const { code, log } = await server().stop();
    expect([code, errorsOf(log).length]).toEqual([0, 1]);
    await restart();
    expect((await call("GET", "/emails")).at("data.total")).toBe(MAILS);
    expect(await send("ada@example.com")).toBe(200);
  },
  CHILD_LIMIT_MS,
);

test(
  "notices a deleted folder, and can be stopped",
  async () => {
    const { data, send, server } = await startServer();
    rmSync(data, { recursive: true });
    await waitUntil(() => server().log().includes("nothing is stored or sent any more"));
    expect(await send("ada@example.com")).toBe(503);
    const { log } = await server().stop();
    expect(errorsOf(log)).toHaveLength(1);
  },
  CHILD_LIMIT_MS,
);
