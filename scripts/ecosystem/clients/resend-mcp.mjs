// Calls the tools of the official MCP server of Resend. It prints one line of JSON for each call.

import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const { version } = JSON.parse(readFileSync("node_modules/resend-mcp/package.json", "utf8"));
console.log(JSON.stringify({ version }));

const { RESEND_API_KEY, RESEND_BASE_URL, PATH, SENDER, DOMAIN: name } = process.env;
const from = SENDER.replace(/.*<|>$/g, "");
const client = new Client({ name: "ecosystem", version: "1" });
await client.connect(
  new StdioClientTransport({
    command: "node",
    args: ["node_modules/resend-mcp/dist/index.js", "--sender", from],
    env: { RESEND_API_KEY, RESEND_BASE_URL, PATH },
  }),
);

/** The text of a tool's answer. A call that must fail names a part of its error. */
async function call(tool, fields = {}, { expected = null } = {}) {
  const { isError = false, content } = await client.callTool({ name: tool, arguments: fields });
  const text = content.map((each) => each.text).join("\n");
  const isRight = expected === null ? !isError : isError && text.includes(expected);
  console.log(JSON.stringify({ call: tool, fault: isRight ? null : text }));
  return text;
}

/** The id in the answer of a tool that created something. */
const idIn = (text) => /(?:"id":"|\bIDs?: )([\w-]+)/.exec(text)?.[1] ?? "";

const mail = { to: ["ada@example.com"], subject: "Hello", text: "Hello", html: "<p>Hello</p>" };
const file = { filename: "a.txt", content: Buffer.from("hello").toString("base64") };
const emailId = idIn(await call("send-email", { ...mail, attachments: [file], cc: [from] }));
await call("get-email", { id: emailId });
await call("list-emails", { limit: 2 });
await call("list-sent-email-attachments", { emailId });
await call("get-sent-email-attachment", { emailId, id: "none" }, { expected: "not_found" });
const later = idIn(await call("send-email", { ...mail, scheduledAt: "in 1 hour" }));
await call("update-email", { id: later, scheduledAt: "in 2 hours" });
await call("cancel-email", { id: later });
await call("send-batch-emails", { emails: [mail, { ...mail, to: ["b@example.com"] }] });
await call("list-received-emails");
await call("get-received-email", { id: "none" }, { expected: "not_found" });

const segmentId = idIn(await call("create-segment", { name: "News" }));
await call("list-segments");
await call("get-segment", { id: segmentId });
const email = "mcp@example.com";
await call("create-contact", { email, firstName: "Ada", properties: { plan: "pro" } });
await call("add-contact-to-segment", { email, segmentId });
await call("list-contacts", { segmentId });
await call("get-contact", { email });
await call("update-contact", { email, unsubscribed: true });
await call("list-contact-segments", { email });
await call("remove-contact-from-segment", { email, segmentId });

const news = { name: "News", segmentId, subject: "News", text: "Hello", html: "<p>Hello</p>" };
const broadcastId = idIn(await call("create-broadcast", news));
await call("list-broadcasts");
await call("get-broadcast", { broadcastId });
await call("update-broadcast", { broadcastId, name: "Spring" });
await call("remove-broadcast", { broadcastId });

const bill = { name: "Bill", subject: "Order {{{ORDER}}}", html: "<p>{{{ORDER}}}</p>" };
const templateId = idIn(await call("create-template", bill));
await call("list-templates");
await call("get-template", { id: templateId });
await call("update-template", { id: templateId, name: "Receipt" });
await call("publish-template", { id: templateId });
await call("duplicate-template", { id: templateId });
await call("remove-template", { id: templateId });

const domainId = idIn(await call("create-domain", { name }));
await call("list-domains");
await call("get-domain", { id: domainId });
await call("verify-domain", { id: domainId });
await call("remove-domain", { id: domainId });

const hook = { endpoint: "https://hooks.example.com/", events: ["email.delivered"] };
const webhookId = idIn(await call("create-webhook", hook));
await call("list-webhooks");
await call("get-webhook", { webhookId });
await call("update-webhook", { webhookId, status: "disabled" });
await call("remove-webhook", { webhookId });

await call("remove-contact", { email });
await call("remove-segment", { id: segmentId });
await call("list-api-keys");
await call("create-api-key", { name: "mine" }, { expected: "restricted_api_key" });
await client.close();
