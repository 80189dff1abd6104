/** A load of mails and events: every one that was answered with 200 must be in the database. */

import { SENDER } from "../bench/mail.ts";
import { limitAim, presenceAim, whole } from "../bench/report.ts";
import { type Load, totalOf } from "./load.ts";

const CONNECTIONS = 8;
/** Size of a mail body, so large that the log soon reaches 64 MiB, after which it is restarted. */
const BODY_BYTES = 20_000;
const STEPS_PER_REQUEST = 20;
const ANSWERED_ID = /"(?:email|event)":"([0-9a-f-]{36})"/g;

export function createAcceptLoad(mails: number, searches: number): Load {
  const answered = new Set<string>();
  return {
    args: ["--transport", "capture", "--api-rate", "0"],
    steps: 2 * mails * STEPS_PER_REQUEST,
    run: ({ port }, key) => sendAll({ url: `http://127.0.0.1:${port}`, key, mails, searches }),
    noteSend(_, text) {
      for (const [, id = ""] of text.matchAll(ANSWERED_ID)) answered.add(id);
    },
    check(sqlite) {
      const ids = sqlite.query("SELECT id FROM emails UNION ALL SELECT id FROM events").values();
      const there = new Set(ids.flat().map(String));
      return { lost: answered.difference(there).size };
    },
    report: (findings) => ({
      figures: [["answered", whole(answered.size)]],
      aims: [
        presenceAim("answered", answered.size, mails),
        limitAim("answered but lost", totalOf(findings, "lost")),
      ],
    }),
    close: () => Promise.resolve(),
  };
}

/** Sends the mails, and tracks an event after each. */
async function sendAll(load: { url: string; key: string; mails: number; searches: number }) {
  const { url, key, mails } = load;
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = `<p>${"All work and no play. ".repeat(BODY_BYTES / 22)}</p>`;
  let next = 0;

  async function post(path: string, content: object): Promise<void> {
    const response = await fetch(url + path, {
      method: "POST",
      headers,
      body: JSON.stringify(content),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  }

  async function work(): Promise<void> {
    while (next < mails) {
      const number = next++;
      const email = `person-${number % 5000}@example.net`;
      await post("/v1/send", { to: email, from: SENDER, subject: `Mail ${number}`, body });
      await post("/v1/track", { event: "seen", email, data: { number } });
    }
  }
  /** Searches meanwhile, so that threads read whenever the log is copied and restarted. */
  async function search(): Promise<void> {
    const answer = await fetch(`${url}/emails?subject=nothing`, { headers });
    await answer.arrayBuffer();
    if (next < mails) await search();
  }

  const works = Array.from({ length: CONNECTIONS }, work);
  const searches = Array.from({ length: load.searches }, search);
  await Promise.all([...works, ...searches]);
}
