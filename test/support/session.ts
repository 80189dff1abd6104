/** The session of a user of the dashboard, as a browser has it: it keeps the session cookie and sends the headers of its pages. */

import { readResponse, type TestApp, type TestResponse } from "./app.ts";

export type UserSession = ReturnType<typeof createSession>;

const ORIGIN = "http://localhost";

export function createSession({ app }: Pick<TestApp, "app">) {
  const cookies = new Map<string, string>();
  const cookie = () => [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");

  /** Sends a request as a page of this server does. `headers` replaces single headers. */
  async function call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string | null> = {},
  ): Promise<TestResponse> {
    const content = body === undefined ? null : JSON.stringify(body);
    const sent = new Headers({ host: "localhost", "user-agent": "a browser" });
    if (method !== "GET") sent.set("origin", ORIGIN);
    if (method !== "GET") sent.set("x-requested-with", "mailstead");
    if (content !== null) sent.set("content-type", "application/json");
    if (content !== null) sent.set("content-length", String(Buffer.byteLength(content)));
    if (cookies.size > 0) sent.set("cookie", cookie());
    for (const [name, value] of Object.entries(headers)) {
      if (value === null) sent.delete(name);
      else sent.set(name, value);
    }
    // Sessions are read once per iteration of the event loop.
    await new Promise(setImmediate);
    const request = new Request(`${ORIGIN}${path}`, { method, headers: sent, body: content });
    const response = await readResponse(await app.handle(request));
    keepCookie(response);
    return response;
  }

  function keepCookie({ headers }: TestResponse): void {
    const [pair = ""] = headers.get("set-cookie")?.split(";") ?? [];
    const [name = "", value = ""] = pair.split("=");
    if (value === "") cookies.delete(name);
    else cookies.set(name, value);
  }

  return {
    call,
    get: (path: string) => call("GET", path),
    post: (path: string, body: unknown = {}) => call("POST", path, body),
    /** The cookies as `name=value`; empty if there is none. */
    cookie,
  };
}

/** Removes all users and what belongs to them, for an application that several tests use. */
export function removeUsers({ db }: Pick<TestApp, "db">): void {
  const owned = [
    "user_sessions",
    "user_tokens",
    "totp_secrets",
    "recovery_codes",
    "passkeys",
    "memberships",
    "saved_views",
  ];
  for (const table of [...owned, "system_mails", "audit", "users"]) {
    db.sqlite.run(`DELETE FROM ${table}`);
  }
}

/** Creates a user and returns a browser in which the user has signed in with a link. */
export async function signIn(
  t: TestApp,
  { email = "owner@example.com", isOwner = true }: { email?: string; isOwner?: boolean } = {},
) {
  const { users, tokens } = t.app.accounts;
  const { user, token } = await t.app.writer.write(() => {
    const user =
      users.findByEmail(email) ??
      users.create({ email, name: "Test", passwordDigest: null, isOwner })();
    return { user, token: tokens.issue({ kind: "LINK", userSeq: user.seq })().text };
  });
  const browser = createSession(t);
  const response = await browser.post("/app/api/link", { token });
  if (response.status !== 200) throw new Error(JSON.stringify(response.body));
  return { ...browser, user };
}
