/** Runs `mailstead import` against a running server, with an interface of another product beside it. */

import { afterAll, beforeAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestApp } from "../support/app.ts";
import { mailstead } from "../support/command-line.ts";
import { listAt, valueAt } from "../support/json.ts";
import { projectPerTest } from "../support/project-per-test.ts";

export const IMPORT_FIXTURES = join(import.meta.dir, "../fixtures/import");

/** Returns the answer of the other product; undefined is 404. */
type Answer = (url: URL, request: Request) => unknown;

export function importRuns() {
  const projects = projectPerTest();
  let t: TestApp;
  let folder: string;
  let server: ReturnType<typeof Bun.serve>;
  let product: ReturnType<typeof Bun.serve>;
  let answer: Answer;
  /** Changes of the server in this test, and the number after which its answers are lost. */
  let changes = 0;
  let lastAnswer = Infinity;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "mailstead-import-"));
    server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      async fetch(request) {
        const { pathname, search } = new URL(request.url);
        const body = request.method === "GET" ? null : await request.bytes();
        const url = `http://localhost${pathname}${search}`;
        const { method, headers } = request;
        const response = await t.app.handle(new Request(url, { method, headers, body }));
        if (method === "POST") changes++;
        return changes > lastAnswer ? new Response("gone", { status: 500 }) : response;
      },
    });
    product = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      async fetch(request) {
        const found = await answer(new URL(request.url), request);
        if (found instanceof Response) return found;
        return found === undefined ? new Response("{}", { status: 404 }) : Response.json(found);
      },
    });
  });
  afterAll(async () => {
    await Promise.all([server.stop(true), product.stop(true)]);
    rmSync(folder, { recursive: true });
  });

  function loseAnswersAfter(number: number): void {
    [changes, lastAnswer] = [0, number];
  }

  return {
    /** A new project for a test. */
    async next(): Promise<TestApp> {
      t = await projects.next();
      await t.start();
      loseAnswersAfter(Infinity);
      answer = () => undefined;
      return t;
    },
    loseAnswersAfter,
    answerWith(given: Answer): void {
      answer = given;
    },
    folder: () => folder,
    serverUrl: () => String(server.url),
    productUrl: () => String(product.url),
    run: (words: readonly string[], env: Record<string, string> = {}) =>
      mailstead(
        ["import", ...words, "--server", String(server.url), "--json"],
        { MAILSTEAD_API_KEY: t.secretKey, ...env },
        { cwd: IMPORT_FIXTURES },
      ),
  };
}

/** The rows of a table: read, new, changed, unchanged, out, refused. */
export function importTable(report: unknown, which: "dryRun" | "applied" = "dryRun") {
  return Object.fromEntries(
    listAt(report, `${which}.rows`).map((row) => [
      valueAt(row, "kind"),
      ["read", "created", "changed", "unchanged", "out", "refused"].map((key) => valueAt(row, key)),
    ]),
  );
}

export const importRefusals = (report: unknown, which: "dryRun" | "applied" = "dryRun") =>
  listAt(report, `${which}.refused`).map((each) => valueAt(each, "what"));
