/** The order in which submitted messages are encoded, and the work that runs meanwhile. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { createUsageCounter } from "../../../src/db/usage-counter.ts";
import { createEncoding } from "../../../src/modules/emails/submission/encode.ts";
import { SubmissionRefusal } from "../../../src/modules/emails/submission/refusal.ts";
import { createPieceReader, createSubmittedStore } from "../../../src/outbox/submitted.ts";
import { testApp, type TestApp } from "../../support/app.ts";

const HEADER = Buffer.from("From: a@acme.test\r\n\r\n");
const LINE = "hällo, this is a line of text\r\n";
const PIECE_BYTES = 256 * 1024;

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});
afterAll(() => t.close());

async function encoding() {
  const { db, app, clock } = t;
  const store = createSubmittedStore({ db, usage: createUsageCounter(db, app.writer) });
  const other = await t.makeProject("other");
  const encode = createEncoding({
    writer: app.writer,
    store,
    readPiece: createPieceReader(db),
    withinQuota: (_, change) => change(),
    now: clock.now,
    noteArrival: () => {},
  });

  /** Stores a message of this many pieces, as it is when it has arrived. */
  function arrived(projectSeq: number, pieces: number) {
    const piece = Buffer.from(LINE.repeat(PIECE_BYTES / LINE.length));
    return app.writer.write(() => {
      const seq = store.begin(projectSeq, 0);
      for (let position = 1; position <= pieces; position++) {
        const key = { projectSeq, messageSeq: seq, position };
        store.insertPiece(key, Bun.zstdCompressSync(piece, { level: 1 }));
      }
      return { header: HEADER, body: Buffer.from(LINE), stored: { seq, pieces } };
    });
  }

  return { encode, arrived, projects: [t.project.seq, other.project.seq] as const };
}

test("a project does not wait for all large messages of another one", async () => {
  const { encode, arrived, projects } = await encoding();
  const [busy, other] = projects;
  const ended: string[] = [];
  const run = async (name: string, project: number, pieces: number) => {
    const message = await arrived(project, pieces);
    return () => encode(project, message).then(() => ended.push(name));
  };
  const starts = [
    await run("busy 1", busy, 4),
    await run("busy 2", busy, 4),
    await run("other", other, 1),
  ];
  await Promise.all(starts.map((start) => start()));
  expect(ended).toEqual(["other", "busy 1", "busy 2"]);
});

test("other work runs while a message is read, also one that is not stored yet", async () => {
  const { encode, projects } = await encoding();
  const header = Buffer.from("Content-Type: multipart/signed; boundary=b\r\n\r\n");
  const body = Buffer.from(`--b\r\n\r\n${LINE.repeat(200_000)}`);
  const reading = { hasEnded: false };
  // A signed part cannot be encoded, so the message is read once and not written.
  const refusal = encode(projects[0], { header, body, stored: null }).then(
    () => null,
    (error: unknown) => {
      reading.hasEnded = true;
      return error;
    },
  );
  let iterations = 0;
  for (; !reading.hasEnded; iterations++) await new Promise((resolve) => setImmediate(resolve));
  expect(await refusal).toBeInstanceOf(SubmissionRefusal);
  expect(iterations).toBeGreaterThan(3);
});
