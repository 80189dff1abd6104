/** The server answers as an operation declares it, and refuses declarations that it would answer wrongly. */

import "../support/production.ts";
import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { readConfig } from "../../src/config/read.ts";
import { createApp } from "../../src/core.ts";
import type { App } from "../../src/core/app.ts";
import { createHttpServer } from "../../src/http-server.ts";
import { BODY_LIMITS, limited } from "../../src/http/body-limits.ts";
import { Envelope, NoContent } from "../../src/http/envelope.ts";
import { defineFormats } from "../../src/http/formats.ts";
import { created, operations, type Operations, read, write } from "../../src/http/operations.ts";
import { Input, withChecks } from "../../src/http/validation.ts";
import { silentLog } from "../../src/lib/log.ts";
import { createKey } from "../../src/modules/keys.ts";
import { moduleOf } from "../../src/modules.ts";
import { createProject } from "../../src/modules/projects.ts";
import { addSuppression } from "../../src/modules/suppressions.ts";
import { readResponse, TEST_SECRET } from "../support/app.ts";
import { manualClock } from "../support/clock.ts";
import { migratedDatabase } from "../support/database.ts";
import { FAILING_DNS } from "../support/dns.ts";
import { expectError } from "../support/refusal.ts";

type Operation = Operations["list"][number];

/** Starts a server whose only noun has this operation, with a full project and its key. */
async function serve(operation: Operation) {
  defineFormats();
  const db = migratedDatabase();
  const config = readConfig({}, {}, { quotaStorage: 1 });
  const rest = { clock: manualClock(), log: silentLog, dns: FAILING_DNS, secret: TEST_SECRET };
  const options = { ...rest, config, db, folder: null };
  const app = createApp(options);
  const noun = { name: "things", operations: operations("Things", {}, [operation]) };
  const { http } = createHttpServer(app, {
    modules: [moduleOf(app, noun)],
    signInPath: async () => null,
    readiness: async () => ({ isReady: true, isQueueHeld: false }),
    readMetrics: () => [],
  });
  const key = await app.writer.write(() => {
    const { seq } = createProject(app, "acme");
    return createKey(app, seq, { kind: "SECRET", name: "test", expiresAt: null }).text;
  });
  const [method = "", path = ""] = operation.route.split(" ");

  return {
    fill: () => db.sqlite.run("UPDATE project_usage SET stored_bytes = 2000000"),

    async call(body: unknown = { name: "a" }, headers: Record<string, string> = {}) {
      const content = method === "GET" ? null : JSON.stringify(body);
      const sent = {
        authorization: `Bearer ${key}`,
        ...(content === null
          ? {}
          : { "content-type": "application/json", "content-length": `${content.length}` }),
        ...headers,
      };
      const url = `http://localhost${path.replace(":id", "7")}`;
      return readResponse(
        await http.handle(new Request(url, { method, headers: sent, body: content })),
      );
    },

    /** The names that the operation kept, the entries in the audit log, and the stored answers. */
    stored() {
      const all = (sql: string) => db.sqlite.query<{ text: string }, []>(sql).all();
      const texts = (sql: string) => all(sql).map(({ text }) => text);
      return {
        names: texts("SELECT email AS text FROM suppressions ORDER BY seq"),
        audit: texts("SELECT action AS text FROM audit"),
        answers: texts("SELECT body AS text FROM idempotency_keys"),
      };
    },
  };
}

const about = { id: "useThing", role: "EDITOR", summary: "Use", description: "A test." } as const;
const Thing = Type.Object({ name: Type.String() });
const body = limited(
  withChecks(Input({ name: Type.String() }), ({ name }) =>
    name === "bad" ? [{ field: "name", code: "invalid_value", message: "must be good" }] : [],
  ),
  BODY_LIMITS.settings,
);
const answer = Envelope(Thing);
const empty = { ...about, answer: NoContent, run: () => {} };

/** Writes a row and returns the data. */
function keep(
  app: App,
  { project, body: { name } }: { project: { seq: number }; body: { name: string } },
): { name: string } {
  addSuppression(app, project.seq, name, { reason: "MANUAL", at: 0 });
  return { name };
}

describe("an operation is answered as it is declared:", () => {
  type Expected = { status: number; body: unknown; names: string[]; audit: string[] };
  const data = { success: true, data: { name: "a" } };
  const kept = { names: ["a"], audit: ["useThing"] };
  const unchanged = { names: [], audit: [] };
  const cases: [name: string, operation: Operation, expected: Expected][] = [
    [
      "a read with 200, its parameters and its query",
      read("GET /things/:id", {
        ...about,
        query: Input({ name: Type.Optional(Type.String()) }),
        answer,
        run: (_, { params, query }) => ({ name: `${params.id} ${query.name}` }),
      }),
      { status: 200, body: { success: true, data: { name: "7 undefined" } }, ...unchanged },
    ],
    [
      "a read that waits and then stores",
      read("POST /things", {
        ...about,
        body,
        answer,
        async run(app, call, storeWithoutQuota) {
          await Bun.sleep(0);
          return storeWithoutQuota(() => keep(app, call));
        },
      }),
      { status: 200, body: data, ...kept },
    ],
    [
      "a read with a document",
      read("GET /things", {
        ...about,
        answer: Type.Unsafe<Response>(Type.String()),
        run: () => new Response("text"),
      }),
      { status: 200, body: "text", ...unchanged },
    ],
    [
      "a write with 200",
      write("POST /things", { ...about, body, answer, run: keep }),
      { status: 200, body: data, ...kept },
    ],
    [
      "a write with 201",
      write("POST /things", { ...about, body, answer, status: 201, run: keep }),
      { status: 201, body: data, ...kept },
    ],
    [
      "a write with 200 of two statuses",
      write("POST /things", { ...about, body, answer, status: [200, 201], run: keep }),
      { status: 200, body: data, ...kept },
    ],
    [
      "a write with 201 of two statuses",
      write("POST /things", {
        ...about,
        body,
        answer,
        status: [200, 201],
        run: (app, call) => created(keep(app, call)),
      }),
      { status: 201, body: data, ...kept },
    ],
    [
      "a write with 204",
      write("DELETE /things/:id", {
        ...about,
        body,
        answer: NoContent,
        run: (app, call) => void keep(app, call),
      }),
      { status: 204, body: undefined, ...kept },
    ],
    [
      "a write with the result of `prepare`, which waits before the change",
      write("POST /things", {
        ...about,
        body,
        answer,
        async prepare(app, { body: { name } }) {
          await Bun.sleep(0);
          return `${name} ${app.db.sqlite.inTransaction}`;
        },
        run(app, call, prepared) {
          keep(app, call);
          return { name: `${prepared} ${app.db.sqlite.inTransaction}` };
        },
      }),
      { status: 200, body: { success: true, data: { name: "a false true" } }, ...kept },
    ],
  ];
  test.each(cases)("%s", async (_, operation, { status, body, ...stored }) => {
    const server = await serve(operation);
    const response = await server.call();
    expect({ status: response.status, body: response.body }).toEqual({ status, body });
    expect(server.stored()).toEqual({ ...stored, answers: [] });
  });
});

describe("a refused request changes nothing:", () => {
  const invalid = {
    status: 422,
    code: "VALIDATION_ERROR",
    errors: [["name", "invalid_value"]],
  } as const;
  const fault = { status: 500, code: "INTERNAL_SERVER_ERROR" };
  const cases: [name: string, operation: Operation, error: Parameters<typeof expectError>[1]][] = [
    [
      "a read whose body violates a check",
      read("POST /things", { ...about, body, answer, run: (_, { body: { name } }) => ({ name }) }),
      invalid,
    ],
    [
      "a write whose body violates a check",
      write("POST /things", { ...about, body, answer, run: keep }),
      invalid,
    ],
    [
      "an idempotent write whose body violates a check",
      write("POST /things", { ...about, isIdempotent: true, body, answer, run: keep }),
      invalid,
    ],
    [
      "a write whose `prepare` fails",
      write("POST /things", {
        ...about,
        answer,
        prepare: () => Promise.reject(new Error("no")),
        run: (app, { project }) => keep(app, { project, body: { name: "a" } }),
      }),
      fault,
    ],
    [
      "a write that answers with a status that it does not declare",
      write("POST /things", {
        ...about,
        answer,
        run: (app, { project }) => created(keep(app, { project, body: { name: "a" } })),
      }),
      fault,
    ],
  ];
  test.each(cases)("%s", async (_, operation, error) => {
    const server = await serve(operation);
    expectError(await server.call({ name: "bad" }, { "idempotency-key": "k" }), error);
    expect(server.stored()).toEqual({ names: [], audit: [], answers: [] });
  });
});

describe("when the storage quota is used up,", () => {
  const about409 = { status: 409, code: "QUOTA_EXCEEDED" };
  const idempotent = { ...about, isIdempotent: true, body, answer, run: keep };
  const cases: [name: string, operation: Operation, isRefused: boolean][] = [
    [
      "a read may still store",
      read("POST /things", {
        ...about,
        body,
        answer,
        run: (app, call, storeWithoutQuota) => storeWithoutQuota(() => keep(app, call)),
      }),
      false,
    ],
    ["a write is refused", write("POST /things", { ...about, body, answer, run: keep }), true],
    ["an idempotent write is refused", write("POST /things", idempotent), true],
    [
      "a write with isWithinQuota: false is not refused",
      write("POST /things", { ...about, isWithinQuota: false, body, answer, run: keep }),
      false,
    ],
    [
      "an idempotent write with isWithinQuota: false is not refused",
      write("POST /things", { ...idempotent, isWithinQuota: false }),
      false,
    ],
  ];
  test.each(cases)("%s", async (_, operation, isRefused) => {
    const server = await serve(operation);
    server.fill();
    const response = await server.call();
    if (isRefused) expectError(response, about409);
    else expect(response.status).toBe(200);
    expect(server.stored().names).toEqual(isRefused ? [] : ["a"]);
  });
});

describe("the answer of an idempotent write", () => {
  const idempotent = { ...about, isIdempotent: true, body, answer, status: 201 } as const;
  const key = { "idempotency-key": "k" };

  test("is stored with its change, and repeated", async () => {
    const server = await serve(write("POST /things", { ...idempotent, run: keep }));
    const [first, second] = [
      await server.call({ name: "a" }, key),
      await server.call({ name: "a" }, key),
    ];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(server.stored()).toEqual({
      names: ["a"],
      audit: ["useThing"],
      answers: [JSON.stringify(first.body)],
    });
  });

  test("is stored sealed if it is a secret", async () => {
    const server = await serve(write("POST /things", { ...idempotent, isSecret: true, run: keep }));
    const [first, second] = [
      await server.call({ name: "a" }, key),
      await server.call({ name: "a" }, key),
    ];
    expect(second.body).toEqual(first.body);
    expect(server.stored().answers).toEqual([expect.stringMatching(/^sealed:/)]);
  });
});

describe("a declaration that would be answered wrongly is refused at the import:", () => {
  const run = () => ({ name: "a" });
  const cases: [name: string, declare: () => Operation, message: string][] = [
    [
      "a read without content",
      () => read("GET /things", empty),
      "GET /things: a read answers with data",
    ],
    [
      "a read with the method of a write",
      // @ts-expect-error: only GET and POST read
      () => read("DELETE /things", { ...about, answer, run }),
      "DELETE /things: only GET and POST read",
    ],
    [
      "a write with the method of a read",
      // @ts-expect-error: GET does not write
      () => write("GET /things", { ...about, answer, run }),
      "GET /things: only POST, PUT, PATCH and DELETE write",
    ],
    [
      "an idempotent write without content",
      () => write("POST /things", { ...empty, isIdempotent: true }),
      "POST /things: an answer without content is not stored for an Idempotency-Key",
    ],
    [
      "a write without content that declares another status",
      () => write("POST /things", { ...empty, status: 201 }),
      "POST /things: an answer without content has the status 204",
    ],
    [
      "a secret answer that is not stored",
      () => write("POST /things", { ...about, answer, isSecret: true, run }),
      "POST /things: only an answer that is stored for an Idempotency-Key is sealed",
    ],
  ];
  test.each(cases)("%s", (_, declare, message) => {
    expect(declare).toThrow(message);
  });
});

/** `bun check` finds that these do not compile. A change is committed at its first `await`. */
export const asynchronousWrites = () => [
  // @ts-expect-error: the function of a write does not wait, also if any object is an answer
  write("POST /things", { ...about, answer: Envelope(Type.Object({})), run: async () => ({}) }),
  // @ts-expect-error: the same for any value
  write("POST /things", { ...about, answer: Envelope(Type.Unknown()), run: async () => 1 }),
  // @ts-expect-error: the same without content
  write("POST /things", { ...about, answer: NoContent, run: async () => {} }),
  write("POST /things", { ...about, answer: Envelope(Type.Object({})), run: () => ({}) }),
  write("POST /things", { ...about, answer: Envelope(Type.Unknown()), run: () => null }),
  // @ts-expect-error: a read stores no answer for an Idempotency-Key
  read("GET /things", { ...about, isIdempotent: true, answer, run: () => ({ name: "a" }) }),
];
