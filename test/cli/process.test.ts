/**
 * Tests that need a process of its own: exit codes, signals, several processes with one data folder,
 * and a start after a crash or damage. Commands are tested in the other files, in this process.
 */

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readResponse } from "../support/app.ts";
import { isExecutable, mailstead, type Running, startMailstead } from "../support/cli.ts";
import * as inProcess from "../support/command-line.ts";
import { PAGE_BYTES, scramble, scrambleFrames, scramblePage } from "../support/damage.ts";
import { waitUntil, waitUntilRead } from "../support/eventually.ts";
import { listAt, stringAt, valueAt } from "../support/json.ts";
import { startSink, type SunkMessage } from "../support/smtp-sink.ts";

const CHILD_LIMIT_MS = 30_000;
const JSON_LOG = ["--json", "--log-format", "json"];
const MAIL = { from: "a@shop.test", subject: "Hi", body: "<p>Hi</p>" };

let parent: string;
const running: Running[] = [];
beforeAll(() => {
  parent = mkdtempSync(join(tmpdir(), "mailstead-process-"));
});
afterAll(async () => {
  for (const { child } of running) child.kill("SIGKILL");
  await Promise.all(running.map(({ child }) => child.exited));
  rmSync(parent, { recursive: true, force: true });
});

async function start(
  words: readonly string[],
  isReady: (greeting: string) => boolean = (text) => text.endsWith("}\n"),
  environment: Record<string, string> = {},
): Promise<Running> {
  const server = await startMailstead(words, isReady, { environment });
  running.push(server);
  return server;
}

function serve(data: string, words: readonly string[] = [], environment = {}): Promise<Running> {
  const all = ["serve", "--data", data, "--port", "0", ...JSON_LOG, ...words];
  return start([...all, "--require-verified-domain", "false"], undefined, environment);
}

function messagesIn(log: string): unknown[] {
  const lines = log.trim().split("\n");
  return lines.map((line): unknown => valueAt(JSON.parse(line), "message"));
}

test(
  "the exit code and the streams of commands",
  async () => {
    const [help, version, usage, refused] = await Promise.all([
      mailstead(["help"]),
      mailstead(["--version", "--json"]),
      mailstead(["serve", "--port", "x", "--json"]),
      mailstead(["project", "list", "--data", join(parent, "nowhere")]),
    ]);
    expect([help.code, help.stderr]).toEqual([0, ""]);
    expect(help.stdout).toContain("Run a server:");
    expect(version.json).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      // An executable that was built in a repository has its commit.
      revision:
        isExecutable && existsSync(".git")
          ? expect.stringMatching(/^[0-9a-f]{12}(-dirty)?$/)
          : null,
      bun: Bun.version,
    });
    expect([usage.code, usage.stdout]).toEqual([2, ""]);
    expect(valueAt(JSON.parse(usage.stderr), "error.code")).toBe("USAGE");
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toMatch(/^mailstead: There is no installation .*nowhere\.\n/);
  },
  CHILD_LIMIT_MS,
);

describe.if(isExecutable && process.platform === "linux")(
  "the environment of the executable",
  () => {
    const optionOf = (pid: number) =>
      readFileSync(`/proc/${pid}/environ`, "utf8")
        .split("\0")
        .filter((entry) => entry.startsWith("BUN_JSC_useFTLJIT="));

    test.each([
      ["switches the FTL compiler of a server off", {}, "0"],
      ["keeps what the user has set", { BUN_JSC_useFTLJIT: "1" }, "1"],
    ])(
      "%s",
      async (_, environment, value) => {
        const server = await serve(join(parent, `ftl-${value}`), [], environment);
        expect(optionOf(server.child.pid)).toEqual([`BUN_JSC_useFTLJIT=${value}`]);
        const { code, log } = await server.stop();
        expect(code).toBe(0);
        expect(messagesIn(log)).toContain("the server has stopped");
      },
      CHILD_LIMIT_MS,
    );

    test(
      "leaves the exit code and the streams of a server that does not start as they are",
      async () => {
        const refused = await mailstead(["dev", "--port", "x"]);
        expect([refused.code, refused.stdout]).toEqual([2, ""]);
        expect(refused.stderr).toMatch(/^mailstead: --port: [^\n]+\n[^\n]+\n$/);
      },
      CHILD_LIMIT_MS,
    );
  },
);

describe("several processes with one data folder", () => {
  let data: string;
  let server: Running;
  let keys: string[];
  const run = (...words: string[]) => mailstead([...words, "--json", "--data", data]);

  beforeAll(() => {
    data = join(parent, "served");
  });

  test(
    "that start at the same time create one installation",
    async () => {
      // The dates of mails do not depend on the time zone of the machine.
      const serving = serve(data, [], { TZ: "America/New_York" });
      const created = await Promise.all(["A", "B"].map((name) => run("project", "create", name)));
      server = await serving;
      expect(created.map(({ code, stderr }) => [code, stderr])).toEqual([
        [0, ""],
        [0, ""],
      ]);
      keys = created.map(({ json }) => stringAt(json, "secretKey"));
      const listed = await run("project", "list");
      expect(listAt(listed.json, "projects")).toHaveLength(2);
    },
    CHILD_LIMIT_MS,
  );

  test("go on after SIGHUP, which has the files of certificates read again", async () => {
    server.child.kill("SIGHUP");
    await waitUntil(() =>
      server.log().includes("SIGHUP: the files of certificates are read again"),
    );
    const call = inProcess.clientOf(server, keys[0] ?? "");
    expect((await call("GET", "/contacts")).status).toBe(200);
  });

  test("only the owner may read the folder, the database and the secret", () => {
    const modes = ["", "mailstead.db", "mailstead.db-wal", "secret"].map(
      (name) => statSync(join(data, name)).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o600, 0o600, 0o600]);
  });

  test(
    "have the keys of each other at once, and refuse a second server",
    async () => {
      const call = inProcess.clientOf(server, keys[0] ?? "");
      expect((await call("GET", "/contacts")).status).toBe(200);
      const [second, disabled] = await Promise.all([
        run("serve", "--port", "0"),
        run("project", "disable", "A"),
      ]);
      expect([second.code, valueAt(JSON.parse(second.stderr), "error.code")]).toEqual([
        1,
        "DATA_FOLDER",
      ]);
      expect(disabled.code).toBe(0);
      expect((await call("GET", "/contacts")).at("error.code")).toBe("PROJECT_DISABLED");
    },
    CHILD_LIMIT_MS,
  );

  test(
    "a copy made beside a server has all that was answered before",
    async () => {
      const call = inProcess.clientOf(server, keys[1] ?? "");
      const send = async (to: string) => (await call("POST", "/v1/send", { ...MAIL, to })).status;
      for (let n = 0; n < 10; n++) expect(await send(`before-${n}@example.net`)).toBe(200);
      const copy = join(parent, "copy");
      const making = mailstead(["backup", copy, "--data", data]);
      for (let n = 0; n < 10; n++) expect(await send(`during-${n}@example.net`)).toBe(200);
      expect(await making).toMatchObject({ code: 0, stderr: "" });
      expect(readdirSync(copy).toSorted()).toEqual(["mailstead.db", "secret"]);
      const modes = ["", "mailstead.db", "secret"].map((name) => statSync(join(copy, name)).mode);
      expect(modes.map((mode) => mode & 0o777)).toEqual([0o700, 0o600, 0o600]);
      expect(await inProcess.mailstead(["check", "--data", copy])).toMatchObject({ code: 0 });
      const restored = await inProcess.startMailstead([
        "serve",
        "--json",
        "--data",
        copy,
        "--port",
        "0",
        "--require-verified-domain",
        "false",
      ]);
      const callCopy = inProcess.clientOf(restored, keys[1] ?? "");
      const found = await callCopy("GET", "/contacts?search=before&limit=1");
      expect(found.at("total")).toBe(10);
      const mail = { ...MAIL, to: "after@example.net" };
      expect((await callCopy("POST", "/v1/send", mail)).status).toBe(200);
      expect((await restored.stop()).code).toBe(0);
    },
    CHILD_LIMIT_MS,
  );

  test(
    "dates in mails are in UTC, whatever the time zone of the machine is",
    async () => {
      const call = inProcess.clientOf(server, keys[1] ?? "");
      const subject =
        "{{ birthday | date: '%d %b' }} / {{ due | date: '%d %b' }} / {{ meeting | date: '%H:%M' }}";
      const values = {
        birthday: "March 8, 2026",
        due: "2026-03-08T00:00:00",
        meeting: "2026-03-29T02:30:00Z",
      };
      await call("POST", "/v1/send", { ...MAIL, to: "a@example.net", subject, data: values });
      const sent = await call("GET", "/emails?limit=1");
      expect(sent.text("data.items.0.subject")).toBe("08 Mar / 08 Mar / 02:30");
    },
    CHILD_LIMIT_MS,
  );

  test(
    "SIGTERM stops the server in order, and the next one has all accepted data",
    async () => {
      const { code, log } = await server.stop();
      const messages = messagesIn(log);
      expect([code, messages.includes("the server is stopping"), messages.at(-1)]).toEqual([
        0,
        true,
        "the server has stopped",
      ]);
      expect(existsSync(join(data, "mailstead.db-wal"))).toBe(false);
      const next = await serve(data);
      const call = inProcess.clientOf(next, keys[1] ?? "");
      expect((await call("GET", "/contacts?search=during&limit=1")).at("total")).toBe(10);
      next.child.kill("SIGINT");
      expect(await next.child.exited).toBe(0);
    },
    CHILD_LIMIT_MS,
  );
});

test(
  "dev prints a working example, and removes its temporary folder when its terminal is closed",
  async () => {
    const temporary = join(parent, "temporary");
    mkdirSync(temporary);
    const words = ["dev", "--data", "temporary", "--port", "0", "--capture-smtp", "127.0.0.1:0"];
    const isReady = (greeting: string) => greeting.includes("Stop with");
    const server = await start(words, isReady, { TMPDIR: temporary });
    const { url, init } = readCurl(server.greeting);
    const sent = await readResponse(await fetch(url, init));
    expect(sent.status).toBe(200);
    const base = new URL(url).origin;
    const key = /secret key {2}(sk_\w+)/.exec(server.greeting)?.[1] ?? "";
    const headers = { authorization: `Bearer ${key}` };
    const readRaw = () => fetch(`${base}/emails/${sent.text("emails.0.email")}/raw`, { headers });
    await waitUntilRead(async () => (await readRaw()).ok);
    expect(await (await readRaw()).text()).toContain("Subject: Hello Ada");
    expect((await fetch(`${base}/docs`)).status).toBe(200);
    expect(server.greeting).toMatch(/public key {2}pk_\w{43}/);
    expect(readdirSync(temporary)).toHaveLength(1);
    server.child.kill("SIGHUP");
    expect(await server.child.exited).toBe(0);
    expect(readdirSync(temporary)).toEqual([]);
  },
  CHILD_LIMIT_MS,
);

/** Parses the printed curl command. */
function readCurl(greeting: string): { url: string; init: RequestInit } {
  const [, url = "", rest = ""] = /^ {2}curl (http\S+\/v1\/send) (.*)$/m.exec(greeting) ?? [];
  const headers = [...rest.matchAll(/-H '([^:]+): ([^']*)'/g)].map(
    ([, name = "", value = ""]): [string, string] => [name, value],
  );
  const body = /-d '([^']*)'/.exec(rest)?.[1] ?? "";
  return { url, init: { method: "POST", headers, body } };
}

/** Makes an installation with a project, and returns its folder and its secret key. */
async function createProject(name: string): Promise<{ data: string; key: string }> {
  const data = join(parent, name);
  const created = await inProcess.mailstead(["project", "create", "P", "--json", "--data", data]);
  return { data, key: stringAt(created.json, "secretKey") };
}

describe("a server that is killed", () => {
  const CONTACTS = 8;
  const addresses = Array.from({ length: CONTACTS }, (_, i) => `c${i}@example.net`);
  type Call = ReturnType<typeof inProcess.clientOf>;

  /** Requests one mail of each kind for each address. All requests were answered when it resolves. */
  async function requestAll(call: Call) {
    const ok = async (...request: Parameters<Call>) => {
      const answer = await call(...request);
      expect([request[1], answer.status < 300]).toEqual([request[1], true]);
      return answer;
    };
    const each = (request: (address: string) => Promise<unknown>) =>
      Promise.all(addresses.map(request));
    await each((email) => ok("POST", "/contacts", { email, subscribed: true }));
    const template = { ...MAIL, name: "T", subject: "Workflow", type: "TRANSACTIONAL" };
    const templateId = (await ok("POST", "/templates", template)).text("data.id");
    const workflow = await ok("POST", "/workflows", {
      name: "W",
      enabled: true,
      trigger: { type: "EVENT", eventName: "ordered" },
      steps: [
        { id: "start", type: "TRIGGER", config: { eventName: "ordered" } },
        { id: "mail", type: "SEND_EMAIL", config: { templateId } },
      ],
      transitions: [{ from: "start", to: "mail" }],
    });
    const content = { ...MAIL, name: "C", subject: "Campaign", audienceType: "ALL" };
    const campaignId = (await ok("POST", "/campaigns", content)).text("data.id");
    await Promise.all([
      ok("POST", `/campaigns/${campaignId}/send`),
      each((to) => ok("POST", "/v1/send", { ...MAIL, to, subject: "Sent" })),
      each((email) => ok("POST", "/v1/track", { event: "ordered", email })),
    ]);
    return { campaignId, workflowId: workflow.text("data.id") };
  }

  /** Makes the leases of a killed process end now; they would end after at least 30 seconds. */
  function endLeases(data: string): void {
    const sqlite = new Database(join(data, "mailstead.db"));
    sqlite.run("UPDATE emails SET next_at = 0 WHERE status IN ('QUEUED', 'SENDING')");
    sqlite.close();
  }

  function arrivalOf({ to, data }: SunkMessage): string {
    const subject = /^Subject: (.*)\r$/m.exec(Buffer.from(data).toString("latin1"))?.[1];
    return `${subject} to ${to.join()}`;
  }

  test(
    "loses no mail, campaign or execution, with --durability sqlite",
    async () => {
      const { data, key } = await createProject("killed");
      const sink = await startSink();
      const relay = `smtp://127.0.0.1:${sink.port}?tls=none`;
      const words = ["--transport", "relay", "--relay-url", relay];
      const rates = ["--send-rate", "40", "--api-rate", "0"];
      const launch = () => serve(data, [...words, ...rates, "--durability", "sqlite"]);
      const killed = await launch();
      const { campaignId, workflowId } = await requestAll(inProcess.clientOf(killed, key));
      await waitUntil(() => sink.messages.length > CONTACTS / 2);
      killed.child.kill("SIGKILL");
      await killed.child.exited;
      endLeases(data);

      const server = await launch();
      const call = inProcess.clientOf(server, key);
      const expected = ["Sent", "Workflow", "Campaign"].flatMap((subject) =>
        addresses.map((address) => `${subject} to ${address}`),
      );
      const arrived = () => new Set(sink.messages.map(arrivalOf));
      await waitUntil(() => arrived().size === expected.length);
      expect([...arrived()].toSorted()).toEqual(expected.toSorted());
      const campaign = () => call("GET", `/campaigns/${campaignId}`);
      await waitUntilRead(async () => (await campaign()).at("data.status") === "SENT");
      const stats = await call("GET", `/campaigns/${campaignId}/stats`);
      expect(stats.at("data")).toMatchObject({ totalRecipients: CONTACTS, sent: CONTACTS });
      const executions = await call("GET", `/workflows/${workflowId}/executions?limit=100`);
      expect(listAt(executions.body, "data.items").map((item) => valueAt(item, "status"))).toEqual(
        addresses.map(() => "COMPLETED"),
      );
      expect((await call("GET", "/emails?limit=1")).at("data.total")).toBe(expected.length);
      expect((await server.stop()).code).toBe(0);
      expect((await inProcess.mailstead(["check", "--data", data])).code).toBe(0);
      await sink.close();
    },
    CHILD_LIMIT_MS,
  );
});

describe("a damaged database", () => {
  test(
    "stops a server from changing its files, also when it ends",
    async () => {
      const { data, key } = await createProject("damaged");
      const file = join(data, "mailstead.db");
      const server = await serve(data);
      const call = inProcess.clientOf(server, key);
      const send = async () => (await call("POST", "/v1/send", { ...MAIL, to: "a@x.test" })).status;
      for (let n = 0; n < 10; n++) expect(await send()).toBe(200);
      const other = new Database(file);
      other.run("PRAGMA busy_timeout = 5000"); // The server may be writing.
      other.run("BEGIN IMMEDIATE");
      other.run("INSERT OR REPLACE INTO readiness (id, at) VALUES (1, 1)");
      scramble(file, PAGE_BYTES);
      scrambleFrames(`${file}-wal`);
      // After a commit of another process the server reads its pages again.
      other.run("COMMIT");
      other.close();
      expect(await send()).toBe(503);
      expect((await call("GET", "/livez")).status).toBe(200);
      expect((await call("GET", "/readyz")).at("error.message")).toBe("The database is damaged.");
      expect((await call("GET", "/contacts")).at("error.code")).toBe("SERVICE_UNAVAILABLE");
      const readFiles = () => [file, `${file}-wal`].map((path) => Bun.hash(readFileSync(path)));
      const before = readFiles();
      const { code, log } = await server.stop();
      expect([code, server.child.signalCode]).toEqual([null, "SIGKILL"]);
      expect(readFiles()).toEqual(before);
      const errors = log
        .trim()
        .split("\n")
        .map((line): unknown => JSON.parse(line))
        .filter((line) => valueAt(line, "level") === "error");
      expect(errors).toEqual([
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
    "ends the start with exit code 1 and one sentence, without a stack",
    async () => {
      const { data } = await createProject("ill");
      const file = join(data, "mailstead.db");
      const sqlite = new Database(file);
      const root = sqlite
        .query<{ page: number }, []>(
          "SELECT rootpage AS page FROM sqlite_schema WHERE name = 'emails_queue'",
        )
        .get();
      sqlite.close();
      scramblePage(file, root?.page ?? 0);
      const ran = await mailstead(["serve", "--port", "0", "--data", data]);
      expect([ran.code, ran.stdout]).toEqual([1, ""]);
      expect(ran.stderr).toMatch(/^mailstead: .*mailstead\.db is damaged/m);
      expect(ran.stderr).not.toMatch(/^\s+at |Bun v/m);
    },
    CHILD_LIMIT_MS,
  );
});

test(
  "an encrypted backup that is killed in any phase is complete, or is removed by the next one",
  async () => {
    const BLOBS = 4;
    const [data, backups] = [join(parent, "killed-data"), join(parent, "killed-backups")];
    await inProcess.mailstead(["project", "create", "Shop", "--data", data]);
    await inProcess.mailstead(["backup", "init", "--data", data]);
    const database = new Database(join(data, "mailstead.db"));
    const insert = database.query(
      "INSERT INTO attachment_contents (digest, project_seq, bytes) VALUES (?, NULL, randomblob(?))",
    );
    for (let i = 0; i < BLOBS; i++) insert.run(`blob ${i}`, 1024 ** 2);
    database.close();
    const words = ["backup", "run", backups, "--data", data, "--json"];
    const isPart = (name: string) => !existsSync(join(backups, name, "manifest.json"));
    for (const phase of ["copy", "encrypt", "verify", "check", "publish", "remove"]) {
      const { child, log } = await start(words, () => true);
      await waitUntil(() => log().includes(`{"phase":"${phase}"}`));
      child.kill("SIGKILL");
      await child.exited;
      // The part of the one before is removed.
      expect(readdirSync(backups).filter(isPart).length).toBeLessThan(2);
    }
    const { code, json } = await inProcess.mailstead(words);
    expect([code, valueAt(json, "contents.rows.attachment_contents")]).toEqual([0, BLOBS]);
    expect(readdirSync(backups).filter(isPart)).toEqual([]);
    expect(readdirSync(join(data, "backup"))).toEqual(["lock"]);
    for (const name of readdirSync(backups)) {
      const verified = await inProcess.mailstead(["backup", "verify", join(backups, name)]);
      expect(verified).toMatchObject({ code: 0 });
    }
  },
  CHILD_LIMIT_MS,
);
