/** Test helpers that upload files to POST /contacts/import and wait for jobs. */

import type { TestResponse, TestApp } from "../../support/app.ts";
import { readResponse } from "../../support/app.ts";
import { waitUntil } from "../../support/eventually.ts";

export type UploadOptions = {
  fields?: Readonly<Record<string, string>>;
  query?: string;
  headers?: Readonly<Record<string, string>>;
  key?: string | null;
  /** Name of the uploaded file. */
  fileName?: string;
  path?: "/contacts/import" | "/suppressions/import";
};

export async function upload(
  app: TestApp,
  file: string | Uint8Array,
  options: UploadOptions = {},
): Promise<TestResponse> {
  const { fields = {}, query = "", headers = {}, key = app.secretKey } = options;
  const { path = "/contacts/import", fileName = "contacts.csv" } = options;
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set("file", new Blob([Buffer.from(file)], { type: "text/csv" }), fileName);
  const request = new Request(`http://localhost${path}${query}`, {
    method: "POST",
    headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...headers },
    body: form,
  });
  return readResponse(await app.app.handle(request));
}

/** Waits until a job has ended and returns its progress. */
export async function waitForJob(
  app: TestApp,
  jobId: string,
  kind: "import" | "bulk" = "import",
): Promise<TestResponse> {
  await waitUntil(() => hasEnded(app, jobId));
  return app.call("GET", `/contacts/${kind}/${jobId}`);
}

function hasEnded(app: TestApp, jobId: string): boolean {
  const row = app.db.sqlite
    .query<{ status: string }, [string]>("SELECT status FROM jobs WHERE id = ?")
    .get(jobId);
  return row?.status === "COMPLETED" || row?.status === "FAILED";
}

/** Uploads a file, waits for its job and returns the progress. */
export async function runImport(
  app: TestApp,
  file: string | Uint8Array,
  options: UploadOptions = {},
): Promise<TestResponse> {
  await app.start();
  const answer = await upload(app, file, options);
  if (answer.status !== 202) throw new Error(JSON.stringify(answer.body));
  return waitForJob(app, answer.text("data.jobId"));
}

export type StoredContact = { email: string; subscribed: boolean; data: unknown };

/** All stored contacts of the project, ordered by address. */
export function storedContacts(app: TestApp): StoredContact[] {
  return app.db.sqlite
    .query<{ email: string; subscribed: number; data: string }, [number]>(
      `SELECT email, is_subscribed AS subscribed, data FROM contacts WHERE project_seq = ?
       ORDER BY email`,
    )
    .all(app.project.seq)
    .map(({ email, subscribed, data }) => ({
      email,
      subscribed: subscribed === 1,
      data: JSON.parse(data),
    }));
}
