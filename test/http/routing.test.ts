import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Elysia } from "elysia";
import { Type } from "@sinclair/typebox";
import { createRoot } from "../../src/http/server.ts";
import { AppError } from "../../src/lib/errors.ts";
import { createLog } from "../../src/lib/log.ts";
import { readResponse, type TestApp, testApp } from "../support/app.ts";
import { waitUntil } from "../support/eventually.ts";
import { expectError } from "../support/refusal.ts";

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});
afterAll(() => t.close());

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("X-Request-Id", () => {
  const kept = ["a", "x".repeat(128), "Req_1.2-3", "0"];
  for (const id of kept) {
    test(`is that of the request: ${id.slice(0, 20)}`, async () => {
      const headers = { "x-request-id": id };
      for (const [path, key] of [
        ["/contacts", t.secretKey],
        ["/contacts", null],
        ["/nowhere", null],
      ] as const) {
        const answer = await t.call("GET", path, undefined, { headers, key });
        expect(answer.headers.get("x-request-id")).toBe(id);
        if (answer.status >= 400) expect(answer.at("error.requestId")).toBe(id);
      }
    });
  }

  const replaced = ["", "x".repeat(129), "a b", "ü", "a/b", "<script>", "a,b", "a;b", '"'];
  for (const id of replaced) {
    test(`is generated instead of ${JSON.stringify(id.slice(0, 20))}`, async () => {
      const headers = { "x-request-id": id };
      const { headers: answer } = await t.call("GET", "/livez", undefined, { headers });
      expect(answer.get("x-request-id")).toMatch(UUID);
    });
  }

  test("differs from request to request", async () => {
    const ids = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const { headers } = await t.call("GET", "/contacts");
        return headers.get("x-request-id");
      }),
    );
    expect(new Set(ids).size).toBe(50);
  });

  test("is on every kind of response: list, 204, raw text, documents", async () => {
    const id = await t.create("/contacts", { email: "rid@example.com" }, "id");
    for (const [method, path] of [
      ["GET", "/contacts"],
      ["DELETE", `/contacts/${id}`],
      ["GET", "/docs"],
      ["GET", "/openapi.json"],
    ] as const) {
      const answer = await t.call(method, path, undefined, { headers: { "x-request-id": "mine" } });
      expect([path, answer.headers.get("x-request-id")]).toEqual([path, "mine"]);
    }
  });
});

describe("CORS", () => {
  const origin = { origin: "https://shop.example" };
  const cors = (headers: Headers) =>
    [...headers.keys()].filter((name) => name.startsWith("access-control"));

  test("a preflight of /v1/track is answered without a key", async () => {
    const headers = {
      ...origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization, content-type, idempotency-key",
    };
    for (const path of ["/v1/track", "/v1/track/", "/v1/track?x=1"]) {
      const answer = await t.call("OPTIONS", path, undefined, { key: null, headers });
      expect([path, answer.status, answer.body]).toEqual([path, 204, undefined]);
      expect(answer.headers.get("access-control-allow-origin")).toBe("*");
      expect(answer.headers.get("access-control-allow-methods")).toBe("POST");
      const allowed = answer.headers.get("access-control-allow-headers")?.toLowerCase();
      for (const name of ["authorization", "content-type", "idempotency-key"]) {
        expect(allowed).toContain(name);
      }
      expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
    }
  });

  test("every response of /v1/track is readable from any origin, also errors", async () => {
    const event = { email: "c@example.com", event: "x" };
    const calls: [number, unknown, string | null][] = [
      [200, event, t.publicKey],
      [422, {}, t.publicKey],
      [401, event, null],
    ];
    for (const [status, body, key] of calls) {
      for (const path of ["/v1/track?x=1", "/v1/track/"]) {
        const answer = await t.call("POST", path, body, { key, headers: origin });
        expect([path, answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([
          path,
          status,
          "*",
        ]);
        const exposed = answer.headers.get("access-control-expose-headers")?.split(", ");
        for (const name of ["X-Request-Id", "RateLimit-Remaining", "Retry-After"]) {
          expect(exposed).toContain(name);
        }
      }
    }
  });

  test("no other route sends CORS headers", async () => {
    const calls: [string, string][] = [
      ["GET", "/contacts"],
      ["OPTIONS", "/contacts"],
      ["POST", "/v1/send"],
      ["OPTIONS", "/v1/send"],
      ["GET", "/livez"],
      ["GET", "/docs"],
      ["GET", "/nowhere"],
      ["OPTIONS", "/v1/tracks"],
      ["OPTIONS", "/v1/track//"],
      ["OPTIONS", "/v1/tr%61ck"],
      ["OPTIONS", "/x/v1/track"],
    ];
    for (const [method, path] of calls) {
      const answer = await t.call(method, path, undefined, { headers: origin });
      expect([path, cors(answer.headers)]).toEqual([path, []]);
    }
  });
});

describe("a path", () => {
  test("with a broken percent-encoding gets 400, not 500", async () => {
    for (const id of ["%E0%A4%A", "%ff", "%", "%zz"]) {
      const answer = await t.call("GET", `/contacts/${id}`);
      expectError(answer, { status: 400, code: "BAD_REQUEST" });
    }
  });

  test("may end with a slash", async () => {
    expect((await t.call("GET", "/contacts/")).status).toBe(200);
    expect((await t.call("PUT", "/contacts/")).status).toBe(405);
  });

  test("with a percent-encoded letter in a literal segment gets 404", async () => {
    const answer = await t.call("POST", "/v1/tr%61ck", {});
    expectError(answer, { status: 404, code: "ROUTE_NOT_FOUND" });
  });

  test("answers HEAD like GET, without a body", async () => {
    for (const path of ["/livez", "/contacts"]) {
      const answer = await t.call("HEAD", path);
      expect([answer.status, answer.body]).toEqual([200, undefined]);
    }
    expect((await t.call("HEAD", "/contacts", undefined, { key: null })).status).toBe(401);
  });

  test("with a property name of JavaScript gets 404", async () => {
    for (const path of ["/__proto__", "/constructor", "/contacts/__proto__/x", "//", "/%2e%2e/x"]) {
      const answer = await t.call("GET", path, undefined, { key: null });
      expectError(answer, { status: 404, code: "ROUTE_NOT_FOUND" });
    }
  });
});

describe("a method that a route does not have", () => {
  const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

  /** The paths of all routes with their methods. Each parameter is replaced by a text. */
  function routes(): Map<string, Set<string>> {
    const found = new Map<string, Set<string>>();
    for (const { method, path } of t.app.http.routes) {
      const sample = path.replaceAll(/:\w+/g, "some-id").replace("*", "some-id/a/b/c");
      const methods = found.get(sample) ?? new Set();
      methods.add(method);
      if (method === "GET") methods.add("HEAD");
      found.set(sample, methods);
    }
    return found;
  }

  test("gets 405 with exactly the methods of the route, on every route", async () => {
    const wrong: unknown[] = [];
    for (const [path, methods] of routes()) {
      for (const method of METHODS) {
        if (methods.has(method) || (method === "OPTIONS" && path.endsWith("/v1/track"))) continue;
        const answer = await t.call(method, path, undefined, { key: null });
        const allowed = answer.headers.get("allow")?.split(", ").sort().join();
        if (answer.status === 405 && allowed === [...methods].sort().join()) continue;
        wrong.push([method, path, answer.status, allowed]);
      }
    }
    expect(wrong).toEqual([]);
  });

  test.each([
    ["reads", (method: string) => method === "GET" || method === "HEAD"],
    ["changes", (method: string) => method !== "GET" && method !== "HEAD"],
  ])("never gets 405 if the route has the method: %s", async (_, isMeant) => {
    for (const [path, methods] of routes()) {
      for (const method of [...methods].filter(isMeant)) {
        const { status } = await t.call(method, path, undefined, { key: null });
        expect([method, path, status === 405]).toEqual([method, path, false]);
      }
    }
  });

  const beside: [method: string, path: string, allow: string][] = [
    ["GET", "/contacts/bulk", "POST"],
    ["DELETE", "/contacts/bulk/", "POST"],
    ["PATCH", "/contacts/import?x=1", "GET, HEAD, POST"],
    ["DELETE", "/contacts/export", "GET, HEAD"],
    ["PATCH", "/contacts/fields", "GET, HEAD"],
    ["GET", "/workflows/some-id/executions/cancel", "POST"],
  ];
  test.each(beside)(
    "%s %s: a literal segment wins over a parameter",
    async (method, path, allow) => {
      const before = t.contents();
      const answer = await t.call(method, path, undefined);
      expectError(answer, { status: 405, code: "METHOD_NOT_ALLOWED" });
      expect(answer.headers.get("allow")).toBe(allow);
      expect(t.contents()).toEqual(before);
    },
  );

  test("gets 405 on a socket as well, where the server has its own router", async () => {
    const own = await testApp({ config: { port: 0 } });
    const url = `http://127.0.0.1:${await own.app.listen()}`;
    for (const [method, path, allow] of beside) {
      const response = await fetch(url + path, { method });
      expect([path, response.status, response.headers.get("allow")]).toEqual([path, 405, allow]);
    }
    await own.close();
  });

  test("uses the parameter if a literal segment leads to no route", async () => {
    const answer = await t.call("GET", "/contacts/fields/activity");
    expectError(answer, { status: 404, code: "CONTACT_NOT_FOUND" });
  });
});

describe("queries", () => {
  const odd = [
    "search=%E0%A4%A",
    "search=%ff",
    "search=%00",
    "%=1",
    "limit[]=1",
    "limit=1&limit=2",
    "__proto__=1&constructor=2",
    "&&&",
    "=",
    "search=a&search=b",
  ];
  for (const query of odd) {
    test(`${query} does not cause an internal error`, async () => {
      const isKnown = query !== "limit[]=1";
      expect((await t.call("GET", `/contacts?${query}`)).status).toBe(isKnown ? 200 : 422);
    });
  }
});

describe("an error", () => {
  const lines: string[] = [];
  const log = createLog({ level: "debug", format: "json", write: (line) => lines.push(line) });
  const { root } = createRoot({
    log,
    now: () => 0,
    elapsed: () => 0,
    projectOf: () => null,
    isHttpsOnly: () => false,
    beginWork: () => {},
    onAnswered: () => {},
  });
  const secret = "the password is hunter2";
  const app = new Elysia({ normalize: false }).use(root).use(
    new Elysia()
      .get("/throws", () => {
        throw new Error(secret);
      })
      .get("/rejects", async () =>
        Promise.reject(new TypeError(secret, { cause: new Error("deeper") })),
      )
      .get("/people/:email", () => {
        throw new Error(secret);
      })
      .get("/throws-text", () => {
        // oxlint-disable-next-line typescript/only-throw-error -- some libraries throw values that are not errors.
        throw secret;
      })
      .get("/lies", () => JSON.parse(`{"a":"${secret}"}`), {
        response: Type.Object({ a: Type.Number() }),
      })
      .get("/v1/throws", () => {
        throw new Error(secret);
      })
      .get("/refuses", () => {
        throw new AppError(409, "CONFLICT", "No.", { headers: { "X-Why": "because" } });
      }),
  );
  const get = async (path: string) =>
    readResponse(
      await app.handle(
        new Request(`http://localhost${path}`, { headers: { "x-request-id": "rid" } }),
      ),
    );

  for (const path of ["/throws", "/rejects", "/throws-text", "/lies", "/v1/throws"]) {
    test(`of ${path} is a 500 without details, which are only in the log`, async () => {
      lines.length = 0;
      const answer = await get(path);
      expectError(answer, { status: 500, code: "INTERNAL_SERVER_ERROR" });
      expect(JSON.stringify(answer.body)).not.toContain("hunter2");
      const [line] = lines.filter((text) => text.includes('"error"'));
      const fields = { level: "error", requestId: "rid", route: path };
      expect(JSON.parse(line ?? "{}")).toMatchObject(fields);
      expect(line).toContain(secret);
    });
  }

  test("is logged with the pattern of its route, and without the path", async () => {
    lines.length = 0;
    expect((await get("/people/ada@example.net?token=abc")).status).toBe(500);
    const [line] = lines.filter((text) => text.includes('"error"'));
    expect(JSON.parse(line ?? "{}")).toMatchObject({ level: "error", route: "/people/:email" });
    expect(lines.join()).not.toMatch(/ada|abc/);
  });

  test("that is an AppError keeps its headers and is not logged as an error", async () => {
    lines.length = 0;
    const answer = await get("/refuses");
    expect([answer.status, answer.headers.get("x-why")]).toEqual([409, "because"]);
    expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });

  test("has the members of the older format only on /v1/*", async () => {
    const v1 = await get("/v1/throws");
    expect(v1.body).toMatchObject({ code: 500, message: v1.at("error.message"), time: 0 });
    const { body } = await get("/throws");
    expect(Object.keys(Object(body)).sort()).toEqual(["error", "success", "timestamp"]);
  });
});

test("every request is logged once, with its id and without its key", async () => {
  const lines: string[] = [];
  const log = createLog({ level: "debug", format: "json", write: (line) => lines.push(line) });
  const logged = await testApp({ log });
  const headers = { "x-request-id": "rid" };
  await logged.call("GET", "/contacts?search=ada", undefined, { headers });
  await logged.call("GET", "/contacts/nobody", undefined, { headers });
  await logged.call("PUT", "/contacts/nobody", undefined, { headers });
  await logged.call("GET", "/nowhere", undefined, { headers });
  await waitUntil(() => lines.length >= 4);
  const requests = lines.map((line): unknown => JSON.parse(line));
  expect(requests).toMatchObject([
    { requestId: "rid", method: "GET", route: "/contacts", status: 200 },
    { requestId: "rid", method: "GET", route: "/contacts/:id", status: 404 },
    { requestId: "rid", method: "PUT", status: 405 },
    { requestId: "rid", method: "GET", status: 404 },
  ]);
  expect(lines.join()).not.toContain(logged.secretKey);
  await logged.close();
});
