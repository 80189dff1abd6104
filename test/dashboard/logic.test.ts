/** The logic of the dashboard that needs no browser: requests, refusals, and terms of a search. */

import { afterEach, describe, expect, spyOn, test } from "bun:test";
import { api, ApiError, setApiEvents, setProject, withQuery } from "../../src/dashboard/api.ts";
import { parseTerms } from "../../src/dashboard/ui/filter-terms.ts";

type Sent = { url: string; method: string; headers: Headers; body: unknown };

/** Answers requests in this process, one after the other, and records them. */
function answerWith(...answers: (Response | Error)[]) {
  const sent: Sent[] = [];
  const spy = spyOn(globalThis, "fetch");
  const fake = async (target: string | URL | Request, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    const url = target instanceof Request ? target.url : String(target);
    sent.push({ url, method: init.method ?? "GET", headers, body: init.body });
    const answer = answers.shift() ?? Response.json({});
    if (answer instanceof Error) throw answer;
    return answer;
  };
  // The type of Bun's fetch has a member that the client does not use.
  spy.mockImplementation(Object.assign(fake, { preconnect: () => undefined }));
  return { sent, restore: () => spy.mockRestore() };
}

let restore: (() => void) | null = null;
afterEach(() => {
  restore?.();
  setProject(null);
});

function answered(...answers: (Response | Error)[]): Sent[] {
  const { sent, restore: undo } = answerWith(...answers);
  restore = undo;
  return sent;
}

const refusal = (status: number, code: string) =>
  Response.json(
    {
      error: {
        code,
        message: "The request was refused.",
        suggestion: "Change it.",
        requestId: "req_1",
        errors: [{ field: "name", message: "is required", code: "required" }],
      },
    },
    { status },
  );

/** The error of a request that must fail. */
async function errorOf(request: Promise<unknown>): Promise<ApiError> {
  const error: unknown = await request.catch((caught: unknown) => caught);
  if (error instanceof ApiError) return error;
  throw new Error("the request did not fail with an ApiError");
}

describe("a request", () => {
  test("carries the header against forged requests, the project, and a key for POST", async () => {
    const sent = answered(
      Response.json({ success: true, data: { id: "1" } }),
      Response.json({ success: true, data: {} }),
    );
    setProject("prj_1");
    expect(await api.post<object>("/keys", { name: "CI" })).toEqual({ id: "1" });
    await api.get("/keys", { project: null, query: { limit: 5, cursor: null } });
    const [post, get] = sent;
    expect(post?.headers.get("x-requested-with")).toBe("mailstead");
    expect(post?.headers.get("x-project")).toBe("prj_1");
    expect(post?.headers.get("idempotency-key")).toMatch(/^[0-9a-f]{32}$/);
    expect(post?.body).toBe('{"name":"CI"}');
    expect([get?.url, get?.headers.get("x-project"), get?.headers.get("idempotency-key")]).toEqual([
      "/keys?limit=5",
      null,
      null,
    ]);
  });

  test("resolves to the body without an envelope, and to an object without a body", async () => {
    answered(Response.json({ contacts: [] }), new Response(null, { status: 204 }));
    expect(await api.get<object>("/contacts")).toEqual({ contacts: [] });
    expect(await api.delete("/keys/1")).toEqual({});
  });

  test("that is refused becomes an error with the fields of the answer", async () => {
    answered(refusal(422, "VALIDATION_ERROR"));
    const error = await errorOf(api.post("/keys"));
    expect([error.status, error.code, error.requestId]).toEqual([422, "VALIDATION_ERROR", "req_1"]);
    expect(error.errors.map(({ field }) => field)).toEqual(["name"]);
  });

  test("whose answer is not JSON becomes an error as well", async () => {
    answered(new Response("<html>Bad gateway</html>", { status: 502 }));
    const error = await errorOf(api.get("/keys"));
    expect([error.status, error.code]).toEqual([502, "ERROR"]);
  });

  test("without an answer reports the lost connection, and the next one its return", async () => {
    const states: boolean[] = [];
    setApiEvents({
      onRightsChanged: () => undefined,
      onSignedOut: () => undefined,
      confirm: () => Promise.resolve(false),
      onConnection: (isConnected) => states.push(isConnected),
    });
    answered(new TypeError("fetch failed"), Response.json({ success: true, data: {} }));
    expect((await errorOf(api.get("/keys"))).code).toBe("NO_RESPONSE");
    await api.get("/keys");
    expect(states).toEqual([false, true]);
  });

  test("without a session reports it, and a wrong password does not", async () => {
    let ends = 0;
    setApiEvents({
      onRightsChanged: () => undefined,
      onSignedOut: () => ends++,
      confirm: () => Promise.resolve(false),
      onConnection: () => undefined,
    });
    const ended = ["/emails", "/app/api/account", "/app/api/account/password"];
    const wrongPassword = ["/app/api/login", "/app/api/confirm", "/app/api/account/password"];
    answered(
      ...ended.map(() => refusal(401, "MISSING_AUTH")),
      ...wrongPassword.map(() => refusal(401, "SIGN_IN_FAILED")),
    );
    for (const path of [...ended, ...wrongPassword]) await errorOf(api.post(path));
    expect(ends).toBe(ended.length);
  });

  test("that needs the password is sent again with the same key after it was entered", async () => {
    let asked = 0;
    setApiEvents({
      onRightsChanged: () => undefined,
      onSignedOut: () => undefined,
      confirm: () => Promise.resolve(++asked === 1),
      onConnection: () => undefined,
    });
    const needed = () => refusal(403, "CONFIRMATION_REQUIRED");
    const sent = answered(
      needed(),
      Response.json({ success: true, data: { text: "sk_1" } }),
      needed(),
    );
    const options = { idempotencyKey: "key" };
    expect(await api.post<object>("/keys", {}, options)).toEqual({ text: "sk_1" });
    expect(sent.map(({ headers }) => headers.get("idempotency-key"))).toEqual(["key", "key"]);
    expect((await errorOf(api.post("/keys", {}, options))).code).toBe("CONFIRMATION_REQUIRED");
    expect(sent.length).toBe(3);
  });
});

test("a query has only the parameters with a value", () => {
  expect(withQuery("/emails", { to: "a+b@example.com", status: "", from: null })).toBe(
    "/emails?to=a%2Bb%40example.com",
  );
  expect(withQuery("/emails")).toBe("/emails");
});

describe("the terms of a search", () => {
  const keys = ["to", "subject", "status"];
  test.each([
    ["hello", { q: "hello" }],
    ["to:ada@example.com", { to: "ada@example.com" }],
    ['subject:"new order" hello there', { subject: "new order", q: "hello there" }],
    ["TO:ada status:SENT", { to: "ada", status: "SENT" }],
    ["to:", {}],
    ["https://example.com", { q: "https://example.com" }],
    [":x to:a:b", { q: ":x", to: "a:b" }],
    ["to:a to:b", { to: "b" }],
    ["   ", {}],
  ])("%p are %p", (text, expected) => {
    expect(parseTerms(text, keys, "q")).toEqual(expected);
  });
});
