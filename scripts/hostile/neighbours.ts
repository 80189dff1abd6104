/**
 * One project asks for work that takes long, and another one adds contacts meanwhile: how long do
 * `/livez` and `POST /contacts` of the other one take? The attacks follow one another: mails with an
 * expensive template are sent, a viewer asks for previews, and messages of an inbox are checked.
 */

import { Type } from "@sinclair/typebox";
import { createProject } from "../../src/modules/projects.ts";
import { compileTemplate, render } from "../../src/render/template/template.ts";
import { threadCpuMs } from "../../src/lib/thread-cpu.ts";
import { createKey } from "../../src/modules/keys.ts";
import { type Api, createApi } from "../bench/api.ts";
import { type Server, startHelper, startServer } from "../bench/children.ts";
import { type Aim, ms, type Outcome, presenceAim } from "../bench/report.ts";
import { addDomain, openStore } from "../bench/store.ts";

/** The template of the attack takes about this much processor time. */
const TEMPLATE_MS = 700;
const PAUSE_MS = 5;
/** Answers of an attack: it was done, or its share was used up. A render on a busy machine may be too slow. */
const ANSWERS = [200, 422, 429, 503];

const Created = Type.Object({ data: Type.Object({ id: Type.String() }) });
const Watched = Type.Object({
  slowestMs: Type.Number(),
  /** Without the time for which other processes had the processor. */
  slowestOwnMs: Type.Number(),
  asked: Type.Number(),
});

export async function runNeighbours(options: {
  data: string;
  binary: string | null;
  /** Requests of each attack, all at the same time. */
  sends: number;
  previews: number;
  checks: number;
  /** Longest time of `/livez` and of a request of the other project. */
  longestMs: number;
}): Promise<Outcome> {
  const { data, binary, sends, previews, checks, longestMs } = options;
  const keys = await prepare(data);
  const server = await startServer({ binary, data, args: ["--api-rate", "0", "--send-rate", "0"] });
  const attacker = createApi(server, keys.attacker);
  const other = createApi(server, keys.other);
  const viewer = await signIn(server, keys);
  const body = expensiveTemplate();
  const template = await attacker.read(Created, "POST", "/templates", {
    name: "Slow",
    type: "TRANSACTIONAL",
    subject: "Slow",
    body,
  });
  await receive(server, keys.attacker);
  const watch = startHelper("../attack/watch.ts", { port: server.port, pid: server.pid });
  // Compiles the code.
  await addContacts(other, Promise.resolve());

  const attacks: readonly [
    name: string,
    count: number,
    ask: (number: number) => Promise<Response>,
  ][] = [
    [
      "sends",
      sends,
      (number) =>
        attacker.request("POST", "/v1/send", {
          to: `reader-${number}@example.net`,
          from: "news@attacker.test",
          template: template.data.id,
        }),
    ],
    ["previews", previews, () => viewer("POST", `/templates/${template.data.id}/preview`)],
    ["checks", checks, () => attacker.request("GET", "/inboxes/default/messages/latest/checks")],
  ];
  const figures: [string, string][] = [];
  const aims: Aim[] = [];
  for (const [name, count, ask] of attacks) {
    watch.again();
    await watch.next(Watched);
    const asked = Array.from({ length: count }, async (_, number) => {
      const response = await ask(number);
      await response.arrayBuffer();
      if (!ANSWERS.includes(response.status)) throw new Error(`${name}: ${response.status}`);
      return response.status;
    });
    const slowestContact = await addContacts(other, Promise.all(asked));
    watch.again();
    const { slowestMs, slowestOwnMs } = await watch.next(Watched);
    const statuses = Map.groupBy(await Promise.all(asked), (status) => status);
    const answered = [...statuses]
      .map(([status, all]) => `${all.length} with ${status}`)
      .join(", ");
    figures.push(
      [`${count} ${name}`, answered],
      ["slowest /livez", `${ms(slowestOwnMs)}; ${ms(slowestMs)} with other processes`],
      ["slowest POST /contacts of the other", ms(slowestContact)],
    );
    aims.push(
      limit(`/livez during ${name}`, slowestOwnMs, longestMs),
      limit(`POST /contacts of the other project during ${name}`, slowestContact, 2 * longestMs),
      presenceAim(`${name} that were done`, (statuses.get(200) ?? statuses.get(422) ?? []).length),
    );
  }
  watch.kill();
  await server.crash();
  return { figures, aims };
}

const limit = (name: string, measured: number, longest: number): Aim => ({
  name,
  isMet: measured < longest,
  measured: ms(measured),
  wanted: `< ${longest} ms`,
});

/** Adds contacts one after the other until the work has ended, and returns the longest time of one. */
async function addContacts(api: Api, work: Promise<unknown>): Promise<number> {
  let slowestMs = 0;
  let hasEnded = false;
  const ended = work.finally(() => (hasEnded = true));
  const isRunning = () => !hasEnded;
  do {
    const startedAt = performance.now();
    await api.send("POST", "/contacts", { email: `${Bun.randomUUIDv7()}@example.org` });
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    await Bun.sleep(PAUSE_MS);
  } while (isRunning());
  await ended;
  return slowestMs;
}

type Keys = Awaited<ReturnType<typeof prepare>>;

/** Two projects with keys, and the link with which a viewer of the first one signs in. */
async function prepare(data: string) {
  const { app, close } = openStore(data);
  const [attacker, other] = await app.writer.write(() =>
    ["attacker", "other"].map((name) => {
      const { seq, id } = createProject(app.app, name);
      const { text } = createKey(app.app, seq, { kind: "SECRET", name, expiresAt: null });
      return { seq, id, key: text };
    }),
  );
  if (attacker === undefined || other === undefined) throw new Error("a project is missing");
  await addDomain(app, attacker.seq, "attacker.test");
  const { users, members, tokens } = app.accounts;
  const token = await app.writer.write(() => {
    const user = { email: "viewer@example.com", name: "V", passwordDigest: null, isOwner: false };
    const { seq } = users.create(user)();
    members.put(attacker.seq, seq, "VIEWER");
    return tokens.issue({ kind: "LINK", userSeq: seq })().text;
  });
  await close();
  return { attacker: attacker.key, other: other.key, project: attacker.id, token };
}

/** Signs the viewer in, and returns the function that asks as a page of the dashboard does. */
async function signIn({ port }: Server, { token, project }: Keys) {
  const base = `http://127.0.0.1:${port}`;
  const page = {
    origin: base,
    "x-requested-with": "mailstead",
    "content-type": "application/json",
  };
  const answer = await fetch(`${base}/app/api/link`, {
    method: "POST",
    headers: page,
    body: JSON.stringify({ token }),
  });
  const [cookie = ""] = answer.headers.get("set-cookie")?.split(";") ?? [];
  if (!answer.ok || cookie === "") throw new Error(`the sign-in failed: ${answer.status}`);
  return (method: string, path: string): Promise<Response> =>
    fetch(base + path, { method, headers: { ...page, cookie, "x-project": project }, body: "{}" });
}

/** Stores a message with much HTML in the default inbox. */
async function receive({ port }: Server, key: string): Promise<void> {
  const cell =
    '<td style="color: red; padding: 1px; font: bold 12px serif"><a href="http://a.example/">a</a></td>';
  const header = "From: a@shop.example\r\nSubject: Large\r\nContent-Type: text/html\r\n\r\n";
  const response = await fetch(`http://127.0.0.1:${port}/inboxes/default/messages`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "message/rfc822" },
    body: header + `<table><tr>${cell}</tr></table>\r\n`.repeat(4_000),
  });
  if (!response.ok) throw new Error(`the message was refused: ${response.status}`);
}

/** A template that takes about TEMPLATE_MS. It is measured here, because machines differ. */
function expensiveTemplate(): string {
  const source = (items: number) =>
    `{% for i in (1..${items}) %}{{ i | times: 3 | plus: 1 }}{% endfor %}`;
  const items = 20_000;
  const compiled = compileTemplate(source(items), "html");
  if (!compiled.ok) throw new Error(compiled.message);
  render(compiled.template, {});
  const before = threadCpuMs();
  render(compiled.template, {});
  const tookMs = threadCpuMs() - before;
  return source(Math.round((items * TEMPLATE_MS) / tookMs));
}
