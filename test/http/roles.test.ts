import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { undocumented } from "../../src/http/documented.ts";
import { includesRole, mayReadBody, type Role, ROLES } from "../../src/http/roles.ts";
import { createRouteRules, type RouteRule } from "../../src/http/route-rules.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { stringAt } from "../support/json.ts";
import { openApiDocument } from "../support/openapi.ts";

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
  // The first request to a route would compile its handler.
  for (const route of t.app.http.routes) route.compile();
});
afterAll(() => t.close());

describe("the rules of routes", () => {
  test("every route of the application declares a role", () => {
    const rules = createRouteRules();
    const { routes } = t.app.http;
    rules.registerRoutes(routes);
    expect(routes.length).toBeGreaterThan(120);
    for (const { method, path } of routes) {
      expect(["ANYONE", "USER", ...ROLES]).toContain(rules.ruleOf(method, path).role);
    }
  });

  test("refuses a route without a role at the start, and names it", () => {
    const { registerRoutes } = createRouteRules();
    const open = { method: "GET", path: "/open", hooks: { detail: undocumented("ANYONE") } };
    for (const hooks of [
      undefined,
      {},
      { detail: { hide: true } },
      { detail: { "x-role": "X" } },
    ]) {
      const route = { method: "POST", path: "/closed", hooks };
      expect(() => registerRoutes([open, route])).toThrow("POST /closed declares no role");
    }
  });

  test("a route that answers GET has the same rule for HEAD", () => {
    const rules = createRouteRules();
    rules.registerRoutes(t.app.http.routes);
    expect(rules.ruleOf("HEAD", "/contacts")).toEqual(rules.ruleOf("GET", "/contacts"));
    expect(() => rules.ruleOf("PUT", "/contacts")).toThrow("PUT /contacts is not registered");
  });

  test("the document shows the role of each operation", async () => {
    const { at } = await openApiDocument();
    expect(stringAt(at("paths"), "/contacts.get.x-role")).toBe("VIEWER");
    expect(stringAt(at("paths"), "/webhooks.post.x-role")).toBe("ADMIN");
    expect(stringAt(at("paths"), "/livez.get.x-role")).toBe("ANYONE");
  });
});

test("a role may do what lower roles may", () => {
  const allowed = ROLES.map((role) => ROLES.filter((least) => includesRole(role, least)));
  expect(allowed).toEqual([
    ["VIEWER"],
    ["VIEWER", "EDITOR"],
    ["VIEWER", "EDITOR", "ADMIN"],
    ["VIEWER", "EDITOR", "ADMIN", "OWNER"],
  ]);
  expect(includesRole(null, "VIEWER")).toBe(false);
  expect(includesRole(null, "ANYONE")).toBe(true);
});

test("viewers may read the bodies of marketing mail, and editors those of all mail", () => {
  const allowed = (isMarketing: boolean) => ROLES.filter((role) => mayReadBody(role, isMarketing));
  expect(allowed(true)).toEqual([...ROLES]);
  expect(allowed(false)).toEqual(["EDITOR", "ADMIN", "OWNER"]);
});

type Caller = {
  name: string;
  /** The role in the project that the request names; null without one. */
  role: Role | null;
  /** Changes the headers of a request of the dashboard. */
  change?: (headers: Headers) => void;
  /** The status of every request that needs a session, if it does not depend on the role. */
  status?: 401 | 403;
  /** Only requests that may change something are refused. */
  isForged?: true;
};

const CALLERS: readonly Caller[] = [
  { name: "an owner", role: "OWNER" },
  { name: "an admin", role: "ADMIN" },
  { name: "an editor", role: "EDITOR" },
  { name: "a viewer", role: "VIEWER" },
  { name: "a member of another project", role: null },
  { name: "a user without a role", role: null },
  { name: "a visitor", role: null, change: (headers) => headers.delete("cookie"), status: 401 },
  { name: "a session that has ended", role: null, status: 401 },
  {
    name: "a forged Origin",
    role: "OWNER",
    isForged: true,
    change: (headers) => headers.set("origin", "https://evil.example"),
  },
  {
    name: "a missing X-Requested-With",
    role: "OWNER",
    isForged: true,
    change: (headers) => headers.delete("x-requested-with"),
  },
];

/** The status that refuses a caller; null if the route must not refuse it. */
function refusalOf(caller: Caller, rule: RouteRule, { method, path }: DeclaredRoute) {
  const isChange = method !== "GET";
  if (path.startsWith("/app/api/second-factor")) {
    // They are for a session whose user has not given the second factor yet, which no caller has.
    return isChange && caller.isForged === true ? 403 : 401;
  }
  if (rule.role === "ANYONE") {
    // The routes to sign in need no session, and still refuse pages of other origins.
    return rule.access === "SESSION" && isChange && caller.isForged === true ? 403 : null;
  }
  if (rule.access === "KEY") return 401;
  if (caller.status !== undefined) return caller.status;
  if (caller.isForged === true && isChange) return 403;
  if (rule.role === "USER") return null;
  if (path.startsWith("/app/api/users")) return caller.role === "OWNER" ? null : 403;
  return includesRole(caller.role, rule.role) ? null : 403;
}

type DeclaredRoute = { method: string; path: string };

describe("every route of the application", () => {
  const rules = createRouteRules();
  const users = new Map<string, number>();
  /** The cookie of each caller, and the session that it names. */
  const cookies = new Map<Caller, { text: string; seq: number }>();
  beforeAll(async () => {
    rules.registerRoutes(t.app.http.routes);
    const other = await t.makeProject("other");
    const { accounts, writer } = t.app;
    await writer.write(() => {
      for (const [index, { name, role }] of CALLERS.entries()) {
        const email = `caller${index}@example.com`;
        const isOwner = role === "OWNER";
        const user = accounts.users.create({ email, name, passwordDigest: null, isOwner })();
        users.set(name, user.seq);
        if (role !== null && role !== "OWNER") {
          accounts.members.put(t.project.seq, user.seq, role);
        }
        if (name === "a member of another project") {
          accounts.members.put(other.project.seq, user.seq, "ADMIN");
        }
      }
    });
  });

  /** The cookie of the caller's session. A request may have ended the one of the request before. */
  async function cookieFor(caller: Caller): Promise<string> {
    const known = cookies.get(caller);
    const isAlive = "SELECT 1 FROM user_sessions WHERE seq = ?";
    const hasEnded = caller.name === "a session that has ended";
    if (known !== undefined && (hasEnded || t.db.sqlite.query(isAlive).get(known.seq) !== null)) {
      return known.text;
    }
    const userSeq = users.get(caller.name) ?? 0;
    const client = { address: "", userAgent: "", earlierSession: null };
    const { sessions } = t.app.accounts;
    const { row, text } = await t.app.writer.write(
      sessions.create({ userSeq, signedInBy: "LINK", client }),
    );
    if (hasEnded) t.db.sqlite.run("DELETE FROM user_sessions WHERE seq = ?", [row.seq]);
    cookies.set(caller, { text, seq: row.seq });
    return text;
  }

  async function statusFor(caller: Caller, { method, path }: DeclaredRoute): Promise<number> {
    const headers = new Headers({
      host: "localhost",
      cookie: `mailstead=${await cookieFor(caller)}`,
      "x-project": t.project.id,
      origin: "http://localhost",
      "x-requested-with": "mailstead",
    });
    caller.change?.(headers);
    const real = path.startsWith("/projects/") ? path.replace(":id", t.project.id) : path;
    const url = `http://localhost${real.replaceAll(/:\w+|\*/g, "x")}`;
    await new Promise(setImmediate); // Sessions are read once per iteration of the event loop.
    t.clock.advance(60_000); // Resets the limit of failed authentication.
    const response = await t.app.handle(new Request(url, { method, headers }));
    await response.body?.cancel(); // Some responses are streams without an end.
    return response.status;
  }

  const isRead = ({ method }: DeclaredRoute) => method === "GET" || method === "HEAD";
  const isOfObject = ({ path }: DeclaredRoute) => path.includes(":");
  const KINDS: readonly [kind: string, isMeant: (route: DeclaredRoute) => boolean][] = [
    ["reads of lists", (route) => isRead(route) && !isOfObject(route)],
    ["reads of objects", (route) => isRead(route) && isOfObject(route)],
    ["changes", (route) => !isRead(route)],
  ];
  const cases = CALLERS.flatMap((caller) => KINDS.map((kind) => [caller, ...kind] as const));
  for (const [caller, kind, isMeant] of cases) {
    test(`refuses ${caller.name} exactly if its rule does: ${kind}`, async () => {
      const routes = t.app.http.routes.filter((route) => route.method !== "WS" && isMeant(route));
      expect(routes.length).toBeGreaterThan(20);
      for (const route of routes) {
        const expected = refusalOf(caller, rules.ruleOf(route.method, route.path), route);
        const status = await statusFor(caller, route);
        const refusal = status === 401 || status === 403 ? status : null;
        expect([route.method, route.path, refusal]).toEqual([route.method, route.path, expected]);
      }
    }, 60_000);
  }

  test("that needs a session refuses an API key", async () => {
    const routes = t.app.http.routes.filter(({ method, path }) => {
      const { access, role } = rules.ruleOf(method, path);
      return access === "SESSION" && role !== "ANYONE";
    });
    expect(routes.length).toBeGreaterThan(5);
    for (const { method, path } of routes) {
      const { status } = await t.call(method, path.replaceAll(/:\w+/g, "x"));
      expect([path, status === 401 || status === 403]).toEqual([path, true]);
    }
  });
});
