/** A running application with the actions that tests of campaigns repeat. */

import { type TestApp, testApp, type TestOptions } from "../../support/app.ts";
import { projectPerTest, updateRows } from "../../support/project-per-test.ts";
import { waitUntil, settleEventLoop } from "../../support/eventually.ts";

export type CampaignApp = ReturnType<typeof withCampaigns>;

export const CONTENT = {
  name: "Spring",
  subject: "Hello {{ name }}",
  body: "<p>Dear {{ name }}</p>",
  from: "news@acme.test",
  audienceType: "ALL",
};

export async function campaignApp(options: TestOptions = {}) {
  const t: TestApp = await testApp(options);
  await t.app.start();
  return withCampaigns(t);
}

/** The same on one application, with a new project for each test. */
export function campaignsPerTest(options: TestOptions = {}) {
  const projects = projectPerTest(options);
  return async () => {
    const t = await projects.next();
    await t.start();
    return withCampaigns(t);
  };
}

function withCampaigns(t: TestApp) {
  const projectSeq = t.project.seq;

  /** Counts mails of the project. */
  const count = (where: string): number =>
    t.db.sqlite
      .query<{ n: number }, [number]>(
        `SELECT count(*) AS n FROM emails WHERE project_seq = ? AND ${where}`,
      )
      .get(projectSeq)?.n ?? 0;

  return {
    ...t,
    count,

    /** Changes all rows of the project in a table. */
    setAll: (table: string, assignments: string, ...values: (string | number)[]) =>
      updateRows(t, table, assignments, ...values),

    contact: (email: string, rest: Record<string, unknown> = {}) =>
      t.create("/contacts", { email, ...rest }, "id"),

    deleteMails: () =>
      void t.db.sqlite.run("DELETE FROM emails WHERE project_seq = ?", [projectSeq]),

    /** Inserts many subscribed contacts directly into the table, without events. */
    insertContacts(size: number): void {
      t.db.sqlite.run(
        `INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
         WITH numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)
         SELECT 'crowd-' || ?2 || '-' || n, ?2, 'c' || n || '@x.test', 1, '{}', 0, 0 FROM numbers`,
        [size, projectSeq],
      );
    },

    campaign: (rest: Record<string, unknown> = {}) =>
      t.create("/campaigns", { ...CONTENT, ...rest }, "data.id"),

    act: (id: string, action: string, body?: unknown) =>
      t.call("POST", `/campaigns/${id}/${action}`, body),

    statusOf: async (id: string) => (await t.call("GET", `/campaigns/${id}`)).text("data.status"),

    stats: async (id: string) => (await t.call("GET", `/campaigns/${id}/stats`)).at("data"),

    /** Writes the audience as rows and sends all mails that may leave now. */
    async settle(): Promise<void> {
      for (let i = 0; i < 5; i++) {
        await t.app.campaigns.tick();
        await waitUntil(() => !t.app.app.reader.isReading());
        await settleEventLoop();
      }
      await waitUntil(() => count("status = 'SENDING'") === 0);
      await t.app.campaigns.tick();
    },

    /** The messages that the capture transport stored, oldest first. */
    received: (): string[] =>
      t.db.sqlite
        .query<{ raw: Uint8Array }, [number]>(
          `SELECT raw FROM captured_messages JOIN emails ON emails.seq = email_seq
           WHERE project_seq = ? ORDER BY email_seq`,
        )
        .all(projectSeq)
        .map(({ raw }) => Buffer.from(raw).toString()),
  };
}
