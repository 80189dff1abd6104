/** Mails that left, and reports of other servers about them, for the tests of bounces. */

import { deriveKey } from "../../../src/lib/crypto.ts";
import type { Outcome } from "../../../src/outbox/outcome.ts";
import { makeReturnPath } from "../../../src/outbox/return-path.ts";
import {
  type CallOptions,
  TEST_SECRET,
  type TestApp,
  testApp,
  type TestOptions,
  type TestResponse,
} from "../../support/app.ts";
import { ACCEPTED, testTransport } from "../../support/transport.ts";
import { plain, standard, type Standard } from "../../protocols/dsn/corpus/build.ts";

export const BOB = "bob@example.net";
const KEY = deriveKey(TEST_SECRET, "return-paths");

export type BounceApp = Awaited<ReturnType<typeof bounceApp>>;

/** The return path of a mail, as the server that bounces it knows it. */
export function returnPathOf(emailId: string, host = "bounce.acme.test"): string {
  const address = makeReturnPath(KEY, emailId, host);
  if (address === null) throw new Error("the return path is too long");
  return address;
}

export async function bounceApp(options: TestOptions & { answer?: Outcome } = {}) {
  const { answer = ACCEPTED, ...rest } = options;
  const transport = testTransport({ answer });
  const t: TestApp = await testApp({ transport, ...rest });

  /** Sends a mail, and delivers it to the relay. Returns its id. */
  async function sent(to = BOB, more: { key?: string; from?: string } = {}): Promise<string> {
    const { key, from = "hello@acme.test" } = more;
    const mail = { to, from, subject: "Your order", body: "<p>b</p>", subscribed: true };
    const id = await t.create(
      "/v1/send",
      mail,
      "data.emails.0.email",
      key === undefined ? {} : { key },
    );
    await t.deliver();
    return id;
  }

  /** Posts a report, to the signed address of the mail unless `recipient` is null. */
  function post(
    raw: string,
    recipient: string | null,
    rest: CallOptions = {},
  ): Promise<TestResponse> {
    const query = recipient === null ? "" : `?recipient=${encodeURIComponent(recipient)}`;
    const headers = { "content-type": "message/rfc822" };
    return t.call("POST", `/v1/bounces${query}`, undefined, { ...rest, raw, headers });
  }

  return {
    ...t,
    transport,
    sent,
    post,
    email: async (id: string) => (await t.call("GET", `/emails/${id}`)).at("data"),
    suppressions: async () => (await t.call("GET", "/suppressions")).at("data.items"),
    eventsOf: (id: string) =>
      t.db.sqlite
        .query<{ name: string; data: string | null }, [string]>(
          `SELECT events.name, events.data FROM events JOIN emails ON emails.seq = events.email_seq
           WHERE emails.id = ? ORDER BY events.seq`,
        )
        .all(id)
        .map(({ name, data }) => ({ name, data: JSON.parse(data ?? "null") })),
  };
}

/** A standard report about a mail that does not name it, so that only the address tells which. */
export const bounceOf = (diagnostic: string, more: Standard = {}): string =>
  standard({ diagnostic, returned: null, ...more });

export const UNKNOWN_USER = bounceOf("smtp; 550 5.1.1 User unknown");
export const FULL = bounceOf("smtp; 552 5.2.2 Mailbox full", { status: "5.2.2" });

/** A report that returns the header of the mail. */
export const returning = (lines: readonly string[], headers: readonly string[] = []): string =>
  standard({
    diagnostic: "smtp; 550 5.1.1 User unknown",
    headers,
    returned: ["text/rfc822-headers", lines],
  });

export const vacation = (): string =>
  plain({
    from: BOB,
    subject: "Automatic reply: Your order",
    headers: ["Auto-Submitted: auto-replied"],
    text: "I am out of the office.",
  });

/** A complaint in the Abuse Reporting Format. */
export const complaint = (feedbackType = "abuse"): string =>
  standard({
    from: "fbl@provider.example",
    statusType: "message/feedback-report",
    general: [`Feedback-Type: ${feedbackType}`, "User-Agent: Feedback/1.0", "Version: 1"],
    groups: [],
    returned: null,
  }).replace("report-type=delivery-status", "report-type=feedback-report");
