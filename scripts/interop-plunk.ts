/**
 * Lets clients of Plunk call the interface below `/plunk`, and prints a table: the client, its version,
 * the call and the result.
 *
 * `bun scripts/interop-plunk.ts`
 *
 * 1. `@plunk/node`, Plunk's library, is installed into a temporary folder and runs there, against the
 *    base URLs `/plunk/v1/` and `/v1/`.
 * 2. The piece of Activepieces, of today and of before, and Plunk's MCP server are in no package
 *    registry. Their calls were read in their sources and are repeated; the members of the answers that
 *    they read are checked. No node of n8n for Plunk is known to us.
 *
 * The exit code is 1 if a call has another result than the client expects.
 */

import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { listAt, stringAt, valueAt } from "../test/support/json.ts";
import { parse, removeFolder, startServer, temporaryFolder, freePort } from "./bench/children.ts";
import { SENDER } from "./bench/mail.ts";
import { prepareStore } from "./bench/store.ts";
import { run } from "./interop/packages.ts";

const LIBRARY = "@plunk/node";
const VERSION = "3.0.3";
const PROGRAM = join(import.meta.dir, "interop/clients/plunk-node.cjs");

type Answer = { status: number; body: unknown };
type Row = { client: string; call: string; fault: string | null };
/** Sends a request; the path is that of the client. */
type Send = (method: string, path: string, body?: unknown, key?: string) => Promise<Answer>;
/** Calls of a client in their order. Each returns whether the client could read the answer. */
type Calls = Readonly<Record<string, (send: Send) => Promise<boolean>>>;

const Result = Type.Object({
  name: Type.String(),
  fault: Type.Union([Type.String(), Type.Null()]),
});

const isText = (body: unknown, path: string): boolean => stringAt(body, path) !== "";
const mail = { to: "piece@example.net", from: SENDER, subject: "Hi", body: "<p>Hi</p>" };

const ACTIVEPIECES: Calls = {
  "validate: GET /contacts": async (send) => (await send("GET", "/contacts")).status === 200,
  "validate with a wrong key": async (send) =>
    (await send("GET", "/contacts", undefined, "sk_wrong")).status === 401,
  "send_transactional_email: POST /v1/send": async (send) => {
    const { status, body } = await send("POST", "/v1/send", { ...mail, subscribed: true });
    return status === 200 && isText(body, "data.emails.0.email");
  },
  "track_event: POST /v1/track": async (send) => {
    const event = { event: "order.completed", email: mail.to, data: { total: 7 } };
    const { status, body } = await send("POST", "/v1/track", event);
    return status === 200 && isText(body, "data.event");
  },
  "get_all_contacts: GET /contacts?limit=100": async (send) => {
    const { body } = await send("GET", "/contacts?limit=1");
    const cursor = stringAt(body, "nextCursor");
    const next = await send("GET", `/contacts?limit=1&cursor=${cursor}`);
    return listAt(body, "items").length === 1 && listAt(next.body, "items").length === 1;
  },
  "get_contact: GET /contacts/{id}": async (send) => {
    const id = stringAt((await send("GET", "/contacts")).body, "items.0.id");
    return stringAt((await send("GET", `/contacts/${id}`)).body, "id") === id;
  },
};

const OLD_ACTIVEPIECES: Calls = {
  "validate: GET /v1/contacts": async (send) => (await send("GET", "/v1/contacts")).status === 200,
  "get contacts: GET /v1/contacts": async (send) =>
    isText((await send("GET", "/v1/contacts")).body, "0.email"),
  "get contact: GET /v1/contacts/{id}": async (send) => {
    const id = stringAt((await send("GET", "/v1/contacts")).body, "0.id");
    return stringAt((await send("GET", `/v1/contacts/${id}`)).body, "id") === id;
  },
};

const condition = {
  logic: "AND",
  groups: [{ filters: [{ field: "data.plan", operator: "equals", value: "pro" }] }],
};
const campaign = { name: "c", subject: "Hi", body: "<p>Hi</p>", from: SENDER, audienceType: "ALL" };

const MCP: Calls = {
  plunk_create_contact: async (send) => {
    const contact = { email: "mcp@example.net", subscribed: true, data: { plan: "pro" } };
    return isText((await send("POST", "/contacts", contact)).body, "id");
  },
  plunk_unsubscribe_contact: async (send) => {
    const found = await send("GET", "/contacts?search=mcp%40example.net&limit=100");
    const id = stringAt(found.body, "data.0.id");
    const patched = await send("PATCH", `/contacts/${id}`, { subscribed: false });
    return valueAt(patched.body, "subscribed") === false;
  },
  plunk_list_contacts: async (send) => {
    const { body } = await send("GET", "/contacts?limit=20&sort=createdAt&dir=desc");
    return listAt(body, "data").length > 0 && typeof valueAt(body, "hasMore") === "boolean";
  },
  plunk_create_template: async (send) => {
    const template = { name: "t", subject: "Hi", body: "<p>Hi</p>", from: SENDER };
    const { status, body } = await send("POST", "/templates", { ...template, type: "MARKETING" });
    return status === 201 && isText(body, "id");
  },
  plunk_list_templates: async (send) =>
    isText((await send("GET", "/templates?limit=20")).body, "data.0.name"),
  plunk_create_segment: async (send) => {
    const segment = { name: "Pro", type: "DYNAMIC", condition, trackMembership: false };
    return isText((await send("POST", "/segments", segment)).body, "id");
  },
  plunk_list_segments: async (send) =>
    isText((await send("GET", "/segments?limit=20")).body, "0.name"),
  plunk_create_campaign: async (send) => {
    const { body } = await send("POST", "/campaigns", { ...campaign, type: "MARKETING" });
    return isText(body, "data.id");
  },
  plunk_list_campaigns: async (send) =>
    isText((await send("GET", "/campaigns?limit=20")).body, "data.0.status"),
  plunk_test_campaign: async (send) =>
    (await send("POST", `/campaigns/${await newest(send)}/test`, { email: mail.to })).status ===
    200,
  plunk_send_campaign: async (send) => {
    const id = await newest(send);
    const { body } = await send("GET", `/campaigns/${id}`);
    const sent = await send("POST", `/campaigns/${id}/send`, {});
    return Number(valueAt(body, "data.totalRecipients")) > 0 && isText(sent.body, "message");
  },
  plunk_get_campaign_stats: async (send) => {
    const { body } = await send("GET", `/campaigns/${await newest(send)}/stats`);
    return typeof valueAt(body, "data.sentCount") === "number";
  },
  plunk_cancel_campaign: async (send) => {
    await send("POST", "/campaigns", campaign);
    const id = await newest(send);
    const scheduledFor = new Date(Date.now() + 86_400_000).toISOString();
    await send("POST", `/campaigns/${id}/send`, { scheduledFor });
    const { body } = await send("POST", `/campaigns/${id}/cancel`);
    return stringAt(body, "data.status") === "CANCELLED";
  },
  "plunk_track_event with a secret key": async (send) => {
    const { body } = await send("POST", "/contacts", { email: mail.to, subscribed: true });
    const event = { name: "signed_up", contactId: stringAt(body, "id"), data: { plan: "pro" } };
    return isText((await send("POST", "/events/track", event)).body, "id");
  },
  plunk_send_email: async (send) => (await send("POST", "/v1/send", mail)).status === 200,
  plunk_verify_email: async (send) => {
    const { body } = await send("POST", "/v1/verify", { email: "ada@example.net" });
    return typeof valueAt(body, "data.valid") === "boolean";
  },
  plunk_list_domains: async (send) =>
    valueAt((await send("GET", "/domains/project/current")).body, "0.verified") === true,
  plunk_check_domain: async (send) => {
    const id = stringAt((await send("GET", "/domains/project/current")).body, "0.id");
    return isText((await send("GET", `/domains/${id}/verify`)).body, "status");
  },
  plunk_create_workflow: async (send) => {
    const workflow = { name: "w", eventName: "signed_up", enabled: false };
    const { body } = await send("POST", "/workflows", workflow);
    const read = await send("GET", `/workflows/${stringAt(body, "id")}`);
    return stringAt(read.body, "steps.0.type") === "TRIGGER";
  },
  plunk_list_workflows: async (send) => {
    const { body } = await send("GET", "/workflows?status=disabled&page=1&pageSize=20");
    return valueAt(body, "totalPages") === 1 && isText(body, "data.0.triggerConfig.eventName");
  },
  plunk_duplicate_workflow: async (send) => {
    const copy = await send("POST", `/workflows/${await newestWorkflow(send)}/duplicate`);
    return copy.status === 201 && valueAt(copy.body, "enabled") === false;
  },
  plunk_set_workflow_enabled: async (send) => {
    const path = `/workflows/${await newestWorkflow(send)}`;
    return valueAt((await send("PATCH", path, { enabled: true })).body, "enabled") === true;
  },
  plunk_start_workflow_execution: async (send) => {
    const { body } = await send("POST", "/contacts", { email: mail.to });
    const path = `/workflows/${await newestWorkflow(send)}/executions`;
    return isText((await send("POST", path, { contactId: stringAt(body, "id") })).body, "id");
  },
  plunk_list_workflow_executions: async (send) => {
    const path = `/workflows/${await newestWorkflow(send)}/executions?page=1&pageSize=20`;
    return stringAt((await send("GET", path)).body, "executions.0.contact.email") === mail.to;
  },
  plunk_delete_contact: async (send) => {
    const { body } = await send("POST", "/contacts", { email: "gone@example.net" });
    return (await send("DELETE", `/contacts/${stringAt(body, "id")}`)).status === 204;
  },
};

const newest = async (send: Send): Promise<string> =>
  stringAt((await send("GET", "/campaigns")).body, "data.0.id");

const newestWorkflow = async (send: Send): Promise<string> =>
  stringAt((await send("GET", "/workflows")).body, "data.0.id");

async function replay(client: string, calls: Calls, send: Send): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [call, make] of Object.entries(calls)) {
    rows.push({ client, call, fault: await faultOf(() => make(send)) });
  }
  return rows;
}

async function faultOf(make: () => Promise<boolean>): Promise<string | null> {
  try {
    return (await make()) ? null : "another answer";
  } catch (error) {
    return String(error);
  }
}

/** The calls of Plunk's library, which is installed into the folder. */
async function runLibrary(folder: string, origin: string, key: string): Promise<Row[]> {
  const file = join(folder, "client.cjs");
  copyFileSync(PROGRAM, file);
  const cwd = ["--cwd", folder];
  const added = await run([process.execPath, "add", ...cwd, `${LIBRARY}@${VERSION}`]);
  const client = `${LIBRARY} ${VERSION}`;
  if (added.code !== 0) return [{ client, call: "installation", fault: added.err.trim() }];
  const rows: Row[] = [];
  for (const path of ["/plunk/v1/", "/v1/"]) {
    const { code, out, err } = await run([process.execPath, file, origin + path, key, SENDER]);
    if (code !== 0) rows.push({ client, call: path, fault: err.trim() });
    for (const line of out.trim().split("\n").filter(Boolean)) {
      const { name, fault } = parse(Result, JSON.parse(line));
      rows.push({ client, call: `${path} ${name}`, fault });
    }
  }
  return rows;
}

async function main(folder: string): Promise<boolean> {
  const data = temporaryFolder();
  const secret = await prepareStore(data, 0);
  const port = freePort();
  const server = await startServer({ binary: null, data, port, args: ["--transport", "capture"] });
  const origin = `http://127.0.0.1:${port}`;

  const send: Send = async (method, path, body, key = secret) => {
    const answer = await fetch(`${origin}/plunk${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === "" ? null : JSON.parse(text) };
  };

  const rows = [
    ...(await runLibrary(folder, origin, secret)),
    ...(await replay("Activepieces piece 0.0.5, repeated", ACTIVEPIECES, send)),
    ...(await replay("Activepieces piece of 2025, repeated", OLD_ACTIVEPIECES, send)),
    ...(await replay("Plunk MCP server of 2026, repeated", MCP, send)),
  ];
  await server.stop();
  removeFolder(data);
  for (const { client, call, fault } of rows) {
    console.log(`${client.padEnd(38)} ${call.padEnd(46)} ${fault ?? "ok"}`);
  }
  const faults = rows.filter(({ fault }) => fault !== null);
  console.log(`${rows.length} calls, ${faults.length} with another result`);
  return faults.length === 0;
}

const folder = mkdtempSync(join(tmpdir(), "mailstead-plunk-"));
try {
  process.exitCode = (await main(folder)) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
