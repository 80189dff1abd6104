/** Creates an application in capture mode, and acts as the recipients of its mails do. */

import { type ParsedMail, simpleParser } from "mailparser";
import type { TrackingMode } from "../../src/db/schema/projects.ts";
import { type TestApp, type TestResponse, readResponse, testApp, type TestOptions } from "./app.ts";

export type Mailing = ReturnType<typeof mailingOf>;

export type SendOptions = {
  to?: string;
  body?: string;
  type?: "MARKETING" | "TRANSACTIONAL";
  from?: string;
  headers?: Record<string, string>;
  /** The topic of the mail. */
  topicId?: string;
};

/** A sent mail as its recipient receives it. */
export type Received = {
  id: string;
  raw: string;
  mail: ParsedMail;
  /** The `href` attributes in the HTML, in order. */
  hrefs: string[];
  /** Path of the tracking pixel; null if there is none. */
  pixel: string | null;
  /** Paths of the pages for the recipient. */
  unsubscribe: string;
  subscribe: string;
  manage: string;
};

const BODY = `<body><p>Hello</p><a href="https://example.com/a?b=1&amp;c=2">a</a>
<a href="{{ manageUrl }}">manage</a> <a href="{{ subscribeUrl }}">in</a></body>`;

export const startMailing = async (options: TestOptions = {}): Promise<Mailing> =>
  mailingOf(await testApp(options));

/** Acts in the project of an application. */
export function mailingOf(t: TestApp) {
  /** Sends a request with the user agent of a browser, unless `headers` has another one. */
  async function fetchAs(
    method: string,
    path: string,
    rest: { headers?: Record<string, string>; body?: string } = {},
  ): Promise<TestResponse> {
    const request = new Request(new URL(path, "http://localhost").href, {
      method,
      headers: { "user-agent": BROWSER, ...rest.headers },
      body: rest.body ?? null,
    });
    return readResponse(await t.app.handle(request));
  }

  return {
    t,
    fetchAs,

    /** Sends one mail to a subscribed contact and returns it as received. */
    async send(rest: SendOptions = {}): Promise<Received> {
      const type = rest.type ?? "MARKETING";
      const { body = BODY, from = "news@acme.test", topicId = null } = rest;
      const template = await t.create(
        "/templates",
        { name: "News", type, subject: "News", body, from, topicId },
        "data.id",
      );
      const id = await t.create(
        "/v1/send",
        {
          to: rest.to ?? "ada@example.net",
          template,
          subscribed: true,
          ...(rest.headers === undefined ? {} : { headers: rest.headers }),
        },
        "emails.0.email",
      );
      await t.deliver();
      return received(id, (await t.call("GET", `/emails/${id}/raw`)).text(""));
    },

    /** Sends a form, and follows the answer to another page, as a browser does. */
    async submit(path: string, body: string, type = "application/x-www-form-urlencoded") {
      const answer = await fetchAs("POST", path, { body, headers: { "content-type": type } });
      if (answer.status !== 303) return answer;
      const next = answer.headers.get("location") ?? "";
      return fetchAs("GET", new URL(next, new URL(path, "http://localhost")).href);
    },

    status: async (id: string) => (await t.call("GET", `/emails/${id}`)).text("data.status"),

    isSubscribed: (email = "ada@example.net"): boolean | undefined => {
      const row = t.db.sqlite
        .query<{ yes: number }, [string, number]>(
          "SELECT is_subscribed AS yes FROM contacts WHERE email = ? AND project_seq = ?",
        )
        .get(email, t.project.seq);
      return row === null ? undefined : row.yes === 1;
    },

    setProject(fields: { tracking?: TrackingMode; language?: string }): void {
      for (const [name, value] of Object.entries(fields)) {
        t.db.sqlite.run(`UPDATE projects SET ${name} = ? WHERE seq = ?`, [value, t.project.seq]);
      }
    },

    /** Returns the events after the first one, except email.sent and those of the ledger of consents, with their mail and data. */
    events: () =>
      t.db.sqlite
        .query<{ name: string; email: string | null; data: string | null }, [number]>(
          `SELECT ev.name, e.id AS email, ev.data FROM events ev
           LEFT JOIN emails e ON e.seq = ev.email_seq
           WHERE ev.name <> 'email.sent' AND ev.name NOT LIKE 'consent.%' AND ev.project_seq = ? ORDER BY ev.seq LIMIT -1 OFFSET 1`,
        )
        .all(t.project.seq),
  };
}

export const BROWSER =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";

export async function received(id: string, raw: string): Promise<Received> {
  const mail = await simpleParser(raw, { skipImageLinks: true, skipTextToHtml: true });
  const html = mail.html === false ? "" : mail.html;
  const token = /\/(?:unsubscribe|subscribe|manage)\/([\w-]+)/.exec(raw.replaceAll("=\r\n", ""));
  const pathOf = (page: string) => `/${page}/${token?.[1] ?? ""}`;
  return {
    id,
    raw,
    mail,
    hrefs: [...html.matchAll(/href="([^"]*)"/g)].map(([, href = ""]) => href),
    pixel: /<img src="https?:\/\/[^/]+(\/o\/[^"]+)"/.exec(html)?.[1] ?? null,
    unsubscribe: pathOf("unsubscribe"),
    subscribe: pathOf("subscribe"),
    manage: pathOf("manage"),
  };
}
