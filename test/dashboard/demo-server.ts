/**
 * A server with a small demonstration project, and a session for each of its roles. All test files
 * of a process share it, so a test that changes the project changes it back.
 */

import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { seedDemo } from "../../scripts/seed/demo.ts";
import type { DemoSizes } from "../../scripts/seed/demo/year.ts";
import { buildDashboard, type Layout, openPage } from "../support/browser.ts";
import { isExecutable, startMailstead } from "../support/cli.ts";
import { dkimPairs } from "../support/dkim.ts";
import { listAt } from "../support/json.ts";
import { processFolder } from "../support/process-folder.ts";
import { shared } from "../support/shared.ts";

/** With fewer mails a newsletter may have no bounce. */
const SIZES = {
  contacts: 1_200,
  mails: 8_000,
  events: 20_000,
  inboxMessages: 40,
} satisfies DemoSizes;

const ROLES = ["OWNER", "EDITOR", "VIEWER"] as const;
type Role = (typeof ROLES)[number];
type Answer = { status: number; body: unknown };

export type DemoServer = Awaited<ReturnType<typeof startDemo>>;

/** Returns the server of this process, which starts at the first call and ends with the process. */
export const sharedDemo = shared(startDemo, ({ child }) => child.exitCode === null);

/** Seeds a folder, and starts a server that captures mail. */
async function startDemo() {
  if (!isExecutable) buildDashboard();
  const folder = mkdtempSync(join(processFolder(), "demo-"));
  const demo = await seedDemo(folder, {
    sizes: SIZES,
    untilMs: Date.now(),
    makeDkimKeys: dkimPairs,
  });
  const server = await startMailstead(
    ["serve", "--transport=capture", "--capture-smtp=127.0.0.1:0", "--data", folder, "--port=0"],
    (greeting) => /listening +http\S+\n/.test(greeting),
  );
  const [, url = ""] = /listening +(http\S+)\n/.exec(server.greeting) ?? [];
  const headers = {
    "content-type": "application/json",
    origin: url,
    "x-requested-with": "mailstead",
    "x-project": demo.projectId,
  };

  async function signIn(role: Role): Promise<string> {
    const wanted = role === "OWNER" ? null : role;
    const user = demo.users.find((each) => each.role === wanted);
    const body = JSON.stringify({ email: user?.email, password: demo.password });
    const response = await fetch(`${url}/app/api/login`, { method: "POST", headers, body });
    const [cookie = ""] = (response.headers.get("set-cookie") ?? "").split(";");
    if (cookie === "") throw new Error(`the sign-in was refused: ${await response.text()}`);
    return cookie;
  }

  const cookies = {
    OWNER: await signIn("OWNER"),
    EDITOR: await signIn("EDITOR"),
    VIEWER: await signIn("VIEWER"),
  };

  /** Calls the interface with the session of a role. */
  async function call(
    method: string,
    path: string,
    { body, role = "OWNER" }: { body?: unknown; role?: Role } = {},
  ): Promise<Answer> {
    const response = await fetch(url + path, {
      method,
      headers: { ...headers, cookie: cookies[role] },
      ...(method === "GET" ? {} : { body: JSON.stringify(body ?? {}) }),
    });
    const text = await response.text();
    const parsed: unknown = text === "" ? {} : JSON.parse(text);
    return { status: response.status, body: parsed };
  }

  return {
    child: server.child,
    info: { data: folder },
    url,
    project: demo.projectId,
    secretKey: demo.secretKey,
    cookies,
    call,
    items: async (path: string): Promise<unknown[]> =>
      listAt((await call("GET", path)).body, "data.items"),

    /** Opens a page below the project, by default for the editor. */
    open: (
      path: string,
      options: { role?: Role; layout?: Layout; prepare?: (page: Page) => Promise<void> } = {},
    ) => {
      const { role = "EDITOR", ...rest } = options;
      const address = `${url}/app/p/${demo.projectId}${path}`;
      return openPage(address, { ...rest, cookie: cookies[role] });
    },
  };
}
