/** The quota of concurrent imports, exports and bulk actions, and fairness between projects. */

import { afterEach, describe, expect, spyOn, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestResponse, readResponse, type TestApp, testApp } from "../../support/app.ts";
import { waitUntil } from "../../support/eventually.ts";
import { expectError } from "../../support/refusal.ts";
import { waitForJob, upload } from "./upload.ts";

let t: TestApp;
let folder: string | null = null;
afterEach(async () => {
  await t.close();
  if (folder !== null) rmSync(folder, { recursive: true });
  folder = null;
});

const open = async (quotaJobs: number, rest: { folder?: string } = {}) => {
  t = await testApp({ config: { quotaJobs }, ...rest });
};

const BULK = { action: "unsubscribe", ids: ["no-such-contact"] };
const bulk = (key = t.secretKey, headers: Record<string, string> = {}) =>
  t.call("POST", "/contacts/bulk", BULK, { key, headers });
const makeFile = (rows: number) =>
  `email\n${Array.from({ length: rows }, (_, i) => `person-${i}@x.io`).join("\n")}\n`;

function expectExceeded(answer: TestResponse, quota: number): void {
  expectError(answer, { status: 429, code: "QUOTA_EXCEEDED" });
  expect(answer.text("error.message")).toBe(
    `The project has reached its quota of ${quota} imports, exports and bulk actions at once (--quota-jobs).`,
  );
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
}

const exportRequest = (key = t.secretKey) =>
  new Request("http://localhost/contacts/export", { headers: { authorization: `Bearer ${key}` } });

describe("a project at its quota", () => {
  test("cannot start further bulk actions and imports, and nothing is stored", async () => {
    folder = mkdtempSync(join(tmpdir(), "mailstead-quota-"));
    await open(2, { folder });
    expect((await bulk()).status).toBe(202);
    expect((await upload(t, makeFile(1))).status).toBe(202);
    const before = t.contents();
    expectExceeded(await bulk(), 2);
    expectExceeded(await upload(t, makeFile(1)), 2);
    expect(t.contents()).toEqual(before);
    expect(readdirSync(join(folder, "imports"))).toHaveLength(1);
    expect(t.eventNames()).toEqual([]);
  });

  test("can start jobs again after its jobs have ended", async () => {
    await open(1);
    const job = (await bulk()).text("data.jobId");
    expectExceeded(await bulk(), 1);
    await t.app.start();
    await waitForJob(t, job, "bulk");
    expect((await bulk()).status).toBe(202);
  });

  test("does not affect other projects", async () => {
    await open(1);
    const { secretKey: key } = await t.makeProject("other");
    expect([(await bulk()).status, (await bulk(key)).status]).toEqual([202, 202]);
    expectExceeded(await bulk(), 1);
    expectExceeded(await bulk(key), 1);
  });

  test("gets the first response for a repeated request", async () => {
    await open(1);
    const headers = { "idempotency-key": "k" };
    const first = await bulk(t.secretKey, headers);
    const second = await bulk(t.secretKey, headers);
    expect([second.status, second.body]).toEqual([202, first.body]);
  });

  test("is still at its quota after a restart", async () => {
    await open(1);
    await bulk();
    const next = await testApp({ config: { quotaJobs: 1 }, db: t.db });
    const key = next.secretKey;
    expectExceeded(await next.call("POST", "/contacts/bulk", BULK, { key }), 1);
    await next.close();
  });
});

test("a quota of 0 means no limit", async () => {
  await open(0);
  for (let i = 0; i < 30; i++) expect((await bulk()).status).toBe(202);
});

test("an upload counts while its file is received, and no longer after it is aborted", async () => {
  folder = mkdtempSync(join(tmpdir(), "mailstead-quota-"));
  await open(1, { folder });
  const { promise: isAborted, resolve: abortUpload } = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      controller.enqueue(
        Buffer.from(
          '--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nemail\n',
        ),
      );
      await isAborted;
      controller.error(new Error("the client disconnected"));
    },
  });
  const pending = t.call("POST", "/contacts/import", undefined, {
    headers: { "content-type": "multipart/form-data; boundary=x" },
    raw: body,
  });
  const imports = join(folder, "imports");
  await waitUntil(() => existsSync(imports) && readdirSync(imports).length === 1);
  expectExceeded(await bulk(), 1);
  expectExceeded(await upload(t, makeFile(1)), 1);
  abortUpload();
  expect((await pending).status).toBeGreaterThanOrEqual(400);
  expect((await bulk()).status).toBe(202);
});

describe("an export", () => {
  const requestText = () =>
    `GET /contacts/export HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${t.secretKey}\r\n\r\n`;
  const storeMany = () =>
    t.db.sqlite.run(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 25000)
         INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
         SELECT 'c-' || n, 1, 'person-' || n || '@example.com', 1,
                json_object('a', printf('%01000d', n)), 0, 0 FROM numbers`,
    );

  test("counts until it was read to its end or cancelled", async () => {
    await open(1);
    const response = await t.app.handle(exportRequest());
    expectExceeded(await readResponse(await t.app.handle(exportRequest())), 1);
    expectExceeded(await bulk(), 1);
    expect(await response.text()).toStartWith("email");
    const cancelled = await t.app.handle(exportRequest());
    expect(cancelled.status).toBe(200);
    await cancelled.body?.cancel();
    expect((await bulk()).status).toBe(202);
  });

  test("does not count after its connection is lost", async () => {
    await open(1);
    storeMany();
    const port = await listen();
    const socket = connect({ port, host: "127.0.0.1" });
    const isAnswered = Promise.withResolvers<void>();
    socket.once("data", () => {
      socket.pause();
      isAnswered.resolve();
    });
    socket.write(requestText());
    await isAnswered.promise;
    expectExceeded(await bulk(), 1);
    socket.destroy();
    expect(await statusOfRepeated()).toBe(202);
  });

  test("does not count after its connection is lost before the response begins", async () => {
    await open(1);
    const { reader } = t.app.app;
    const { find } = reader;
    const { promise: isLost, resolve: lose } = Promise.withResolvers<void>();
    // The survey of the keys waits, as in a large project.
    spyOn(reader, "find").mockImplementationOnce(async (...args) => {
      await isLost;
      return find(...args);
    });
    const socket = connect({ port: await listen(), host: "127.0.0.1" });
    let isAnswered = false;
    socket.once("data", () => (isAnswered = true));
    socket.write(requestText());
    await waitUntil(() => t.app.http.server?.pendingRequests === 1);
    expectExceeded(await bulk(), 1);
    socket.destroy();
    await waitUntil(() => t.app.http.server?.pendingRequests === 0);
    lose();
    expect(await statusOfRepeated()).toBe(202);
    expect(isAnswered).toBe(false);
  });

  test("does not count after it was refused", async () => {
    await open(1);
    for (let i = 0; i < 11; i++) {
      const keys = Array.from({ length: 1_000 }, (_, n) => [`key_${i}_${n}`, n]);
      const body = { email: `person-${i}@x.io`, data: Object.fromEntries(keys) };
      expect((await t.call("POST", "/contacts", body)).status).toBe(201);
    }
    expectError(await t.call("GET", "/contacts/export"), {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [["format", "invalid_value"]],
    });
    expectError(await t.call("GET", "/contacts/export?segmentId=none"), {
      status: 404,
      code: "SEGMENT_NOT_FOUND",
    });
    expect((await bulk()).status).toBe(202);
  });

  test("does not count after the response to HEAD", async () => {
    await open(1);
    const port = await listen();
    const answer = await fetch(`http://127.0.0.1:${port}/contacts/export`, {
      method: "HEAD",
      headers: { authorization: `Bearer ${t.secretKey}` },
    });
    expect(answer.status).toBe(200);
    expect(await statusOfRepeated()).toBe(202);
  });
});

/** Repeats a bulk action until it is accepted, at most 500 times, and returns the last status. */
async function statusOfRepeated(): Promise<number> {
  for (let tries = 0; ; tries++) {
    const { status } = await bulk();
    if (status === 202 || tries === 500) return status;
  }
}

async function listen(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  t.app.http.listen({ hostname: "127.0.0.1", port: 0 }, (server) => resolve(server.port ?? 0));
  return promise;
}

test("jobs of another project do not wait for the jobs of this one", async () => {
  await open(0);
  const { secretKey: key } = await t.makeProject("other");
  const large = makeFile(4_000);
  const jobs = [await upload(t, large), await upload(t, large)].map((answer) =>
    answer.text("data.jobId"),
  );
  const small = (await bulk(key)).text("data.jobId");
  await t.app.start();
  const statusOf = t.db.sqlite.query<{ status: string }, [string]>(
    "SELECT status FROM jobs WHERE id = ?",
  );
  await waitUntil(() => statusOf.get(small)?.status === "COMPLETED");
  expect(jobs.map((id) => statusOf.get(id)?.status)).toEqual(["RUNNING", "QUEUED"]);
  for (const job of jobs) expect((await waitForJob(t, job)).at("data.status")).toBe("COMPLETED");
  expect(t.countRows("contacts")).toBe(4_000);
});
