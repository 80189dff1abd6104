/**
 * A short form of the whole run with each setting of `--durability`: a server accepts mail, sends a
 * campaign and runs a workflow, is killed in the middle and started again, and loses nothing.
 */

import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mailstead, startMailstead } from "../support/cli.ts";
import { listAt, stringAt, valueAt } from "../support/json.ts";
import { startSink, type SunkMessage } from "../support/smtp-sink.ts";

const CHILD_LIMIT_MS = 60_000;
const CONTACTS = 20;
const FROM = "shop@example.com";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function serve(data: string, relayPort: number, durability: string) {
  const relay = ["--transport", "relay", "--relay-url", `smtp://127.0.0.1:${relayPort}?tls=none`];
  const options = ["--send-rate", "20", "--require-verified-domain", "false"];
  const words = ["serve", "--data", data, "--port", "0", "--json", "--durability", durability];
  return startMailstead([...words, ...relay, ...options], (greeting) => greeting.endsWith("}\n"));
}

/** Returns a function that calls the API and expects success. */
function clientOf(greeting: string, key: string) {
  const url = stringAt(JSON.parse(greeting), "url");
  return async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await fetch(url + path, {
      method,
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    expect([path, answer.ok, answer.ok ? "" : text]).toEqual([path, true, ""]);
    return text === "" ? null : JSON.parse(text);
  };
}

type Client = ReturnType<typeof clientOf>;

const ADDRESSES = Array.from({ length: CONTACTS }, (_, i) => `c${i}@example.net`);
const MAIL = { body: "<p>Hello</p>", from: FROM };

/** Requests one mail of each kind for each address. All requests were answered when it resolves. */
async function requestAll(call: Client) {
  await Promise.all(
    ADDRESSES.map((email) => call("POST", "/contacts", { email, subscribed: true })),
  );
  const template = { ...MAIL, name: "T", subject: "Workflow", type: "TRANSACTIONAL" };
  const templateId = stringAt(await call("POST", "/templates", template), "data.id");
  const workflow = await call("POST", "/workflows", {
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
  const campaignId = stringAt(await call("POST", "/campaigns", content), "data.id");
  await Promise.all([
    call("POST", `/campaigns/${campaignId}/send`),
    ...ADDRESSES.map((to) => call("POST", "/v1/send", { ...MAIL, to, subject: "Sent" })),
    ...ADDRESSES.map((email) => call("POST", "/v1/track", { event: "ordered", email })),
  ]);
  return { campaignId, workflowId: stringAt(workflow, "data.id") };
}

/** Makes the leases of a killed process end now; they would end after at least 30 seconds. */
function endLeases(data: string): void {
  const sqlite = new Database(join(data, "mailstead.db"));
  sqlite.run("UPDATE emails SET next_at = 0 WHERE status IN ('QUEUED', 'SENDING')");
  sqlite.close();
}

/** Waits without using the processor, which the server needs. */
async function waitUntil(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await Bun.sleep(20);
}

function arrivalOf({ to, data }: SunkMessage): string {
  const subject = /^Subject: (.*)\r$/m.exec(Buffer.from(data).toString("latin1"))?.[1];
  return `${subject} to ${to.join()}`;
}

const EXPECTED = ["Sent", "Workflow", "Campaign"].flatMap((subject) =>
  ADDRESSES.map((address) => `${subject} to ${address}`),
);

test.each(["background", "sqlite"])(
  "with --durability %s, a server that is killed loses no mail, campaign or execution",
  async (durability) => {
    const data = mkdtempSync(join(tmpdir(), "mailstead-durability-"));
    folders.push(data);
    const created = await mailstead(["project", "create", "Shop", "--json", "--data", data]);
    const key = stringAt(created.json, "secretKey");
    const sink = await startSink();

    const killed = await serve(data, sink.port, durability);
    const { campaignId, workflowId } = await requestAll(clientOf(killed.greeting, key));
    await waitUntil(() => sink.messages.length > CONTACTS / 2);
    killed.child.kill("SIGKILL");
    await killed.child.exited;
    endLeases(data);

    const server = await serve(data, sink.port, durability);
    const call = clientOf(server.greeting, key);
    const arrived = () => new Set(sink.messages.map(arrivalOf));
    await waitUntil(() => arrived().size === EXPECTED.length);
    expect([...arrived()].toSorted()).toEqual(EXPECTED.toSorted());
    const campaign = () => call("GET", `/campaigns/${campaignId}`);
    await waitUntil(async () => stringAt(await campaign(), "data.status") === "SENT");
    const stats = await call("GET", `/campaigns/${campaignId}/stats`);
    expect(valueAt(stats, "data")).toMatchObject({ totalRecipients: CONTACTS, sent: CONTACTS });
    const executions = await call("GET", `/workflows/${workflowId}/executions?limit=100`);
    expect(listAt(executions, "data.items").map((each) => valueAt(each, "status"))).toEqual(
      ADDRESSES.map(() => "COMPLETED"),
    );
    expect(valueAt(await call("GET", "/emails?limit=1"), "data.total")).toBe(EXPECTED.length);
    expect((await server.stop()).code).toBe(0);
    expect((await mailstead(["check", "--data", data])).code).toBe(0);
    await sink.close();
  },
  CHILD_LIMIT_MS,
);
