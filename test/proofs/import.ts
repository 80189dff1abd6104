/** An import of contacts, whose process is killed again and again. */

import { type Aim, limitAim, presenceAim } from "../../scripts/bench/report.ts";
import {
  createCrashImages,
  jobRows,
  makeContactsFile,
  processedRows,
} from "../modules/contacts/crash-images.ts";
import { runImport, storedContacts, upload, waitForJob } from "../modules/contacts/upload.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { waitUntil } from "../support/eventually.ts";

const resultOf = (app: TestApp) => ({
  contacts: storedContacts(app),
  jobs: jobRows(app),
  events: app.countRows("events"),
});

/** The number of rows that the connection of the application has changed. */
const totalChanges = (app: TestApp): number =>
  app.db.sqlite.query<{ n: number }, []>("SELECT total_changes() AS n").get()?.n ?? 0;

/** Imports a file of so many lines, and kills the process whenever it has read `between` more. */
export async function crashImport(size: { lines: number; between: number }): Promise<Aim[]> {
  const file = makeContactsFile(size.lines);
  const whole = await testApp();
  await runImport(whole, file);
  const expected = resultOf(whole);
  await whole.close();

  const images = createCrashImages();
  images.makeFolder("0");
  let app = await images.openIn("0");
  const jobId = (await upload(app, file)).text("data.jobId");
  let crashes = 0;
  let lostRows = 0;
  for (let reached = 0; reached < size.lines - 2 * size.between; crashes++) {
    await app.app.start();
    const next = reached + size.between;
    await waitUntil(() => processedRows(app) >= next);
    // The next change may be any one, not only one after which the progress is stored.
    const before = totalChanges(app);
    await waitUntil(() => totalChanges(app) !== before);
    reached = processedRows(app);
    images.copy(String(crashes), String(crashes + 1));
    await images.close(app);
    app = await images.openIn(String(crashes + 1));
    lostRows += reached - processedRows(app);
  }
  await app.app.start();
  await waitForJob(app, jobId);
  const isSame = Bun.deepEquals(resultOf(app), expected);
  await images.remove();
  return [
    presenceAim("crashes", crashes, 2),
    limitAim("rows that a crash undid", Math.abs(lostRows)),
    {
      name: "contacts, events and counts are those of an import without crashes",
      isMet: isSame,
      measured: String(isSame),
      wanted: "true",
    },
  ];
}
