/** Settings of the dashboard in the program: a server that is killed while its relay changes, and commands. */

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Running, startMailstead } from "../support/cli.ts";
import * as inProcess from "../support/command-line.ts";
import { waitUntil } from "../support/eventually.ts";
import { stringAt, valueAt } from "../support/json.ts";
import { type Sink, startSink } from "../support/smtp-sink.ts";

let data: string;
const running: Running[] = [];
beforeAll(() => {
  data = mkdtempSync(join(tmpdir(), "mailstead-stored-"));
});
afterAll(async () => {
  for (const { child } of running) child.kill("SIGKILL");
  await Promise.all(running.map(({ child }) => child.exited));
  rmSync(data, { recursive: true, force: true });
});

async function command(...words: string[]): Promise<unknown> {
  const ran = await inProcess.mailstead([...words, "--data", data, "--json"]);
  if (ran.code !== 0) throw new Error(ran.stderr);
  return ran.json;
}

async function serve(): Promise<{ server: Running; url: string }> {
  const words = ["serve", "--json", "--data", data, "--port", "0", "--send-rate", "0"];
  const server = await startMailstead([...words, "--require-verified-domain", "false"], (text) =>
    text.endsWith("}\n"),
  );
  running.push(server);
  return { server, url: stringAt(JSON.parse(server.greeting), "url") };
}

/** Signs in with a link of the command line; resolves to a function that sets a setting. */
async function signIn(url: string) {
  const link = stringAt(await command("user", "link", "ada@shop.test"), "link");
  const headers = {
    origin: url,
    host: new URL(url).host,
    "x-requested-with": "mailstead",
    "content-type": "application/json",
  };
  const body = JSON.stringify({ token: new URL(link).hash.slice(1) });
  const answer = await fetch(`${url}/app/api/link`, { method: "POST", headers, body });
  const [cookie = ""] = (answer.headers.get("set-cookie") ?? "").split(";");
  return async (name: string, value: object): Promise<number> => {
    const set = await fetch(`${url}/system/settings/${name}`, {
      method: "PUT",
      headers: { ...headers, cookie },
      body: JSON.stringify(value),
    });
    return set.status;
  };
}

const relayTo = ({ port }: Sink) => ({ relay: { host: "127.0.0.1", port, tls: "none" } });
const recipients = (...sinks: Sink[]) =>
  sinks.flatMap(({ messages }) => messages.flatMap(({ to }) => to));

test("a server that is killed while its relay changes loses no mail, and starts with the new relay", async () => {
  const [first, second] = [await startSink({ answerAfterMs: 5 }), await startSink()];
  await command("project", "create", "Shop");
  await command("user", "add", "ada@shop.test", "--owner");
  const key = stringAt(await command("key", "create", "--project", "Shop"), "key.text");
  const killed = await serve();
  const set = await signIn(killed.url);
  expect(await set("relay-url", relayTo(first))).toBe(200);
  expect(await set("transport", { value: "relay" })).toBe(200);
  const send = (url: string, to: string[]) =>
    fetch(`${url}/v1/send`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ to, from: "a@shop.test", subject: "s", body: "b" }),
    });
  const addresses = Array.from({ length: 90 }, (_, i) => `p${i}@example.net`);
  expect((await send(killed.url, addresses)).status).toBe(200);
  await waitUntil(() => first.messages.length > 5);
  expect(await set("relay-url", relayTo(second))).toBe(200);
  killed.server.child.kill("SIGKILL");
  await killed.server.child.exited;

  const next = await serve();
  expect((await send(next.url, ["last@example.net"])).status).toBe(200);
  await waitUntil(() => recipients(second).includes("last@example.net"));
  expect(recipients(first)).not.toContain("last@example.net");
  // Mail that was under way at the kill waits for the end of its lease, and some mails leave right now.
  using db = new Database(join(data, "mailstead.db"), { readonly: true });
  const waiting = db
    .query<{ to: string }, []>(
      "SELECT to_address AS 'to' FROM emails WHERE status IN ('QUEUED', 'SENDING')",
    )
    .all()
    .map(({ to }) => to);
  const found = new Set([...recipients(first, second), ...waiting]);
  expect(addresses.filter((address) => !found.has(address))).toEqual([]);

  // A command uses the relay of the dashboard as well.
  await command("send", "--to", "cli@example.net", "--from", "a@shop.test", "--subject", "s");
  expect(recipients(second)).toContain("cli@example.net");

  // `mailstead dev` catches all mail, independent of the settings of the dashboard.
  next.server.child.kill("SIGKILL");
  await next.server.child.exited;
  const ports = ["--port", "0", "--capture-smtp", "127.0.0.1:0"];
  const dev = await inProcess.startMailstead(["dev", "--json", "--data", data, ...ports]);
  const state = await fetch(`${stringAt(JSON.parse(dev.greeting), "url")}/app/api/state`);
  expect(valueAt(await state.json(), "data.transport")).toBe("capture");
  await dev.stop();
  await Promise.all([first.close(), second.close()]);
}, 30_000);
