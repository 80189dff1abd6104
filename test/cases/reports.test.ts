/** Reports as real servers write them, each posted to the whole application. */

import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import path from "node:path";
import { BOB, type BounceApp, bounceApp, returnPathOf } from "../modules/bounces/reports.ts";
import { standard } from "../protocols/dsn/corpus/build.ts";

let app: BounceApp;

afterEach(() => app.close());

const read = (file: string) => readFileSync(path.join(import.meta.dir, file), "utf8");

/** Sends a mail, and posts the report about it that `write` returns for its return path. */
async function report(write: (returnPath: string) => string) {
  app = await bounceApp();
  const id = await app.sent();
  const returnPath = returnPathOf(id);
  const answer = (await app.post(write(returnPath), returnPath)).at("data");
  return { id, answer };
}

/** A report of a file, in which {PATH} and {RCPT} stand for our address and the recipient. */
const fromFile = (file: string) => (returnPath: string) =>
  read(file).replaceAll("{PATH}", returnPath).replaceAll("{RCPT}", BOB);

describe("an address that does not exist is suppressed", () => {
  test.each([
    ["dragonfly-bounce", "report.eml"],
    ["list-header-hides-bounce", "report.eml"],
    ["m365-unknown-recipient", "report.eml"],
    ["text-bounces-without-rule", "yahoo.eml"],
    ["text-bounces-without-rule", "imail.eml"],
    ["text-bounces-without-rule", "exchange.eml"],
  ])("%s: %s", async (name, file) => {
    const { id, answer } = await report(fromFile(`${name}/${file}`));
    expect(answer).toMatchObject({ matched: true, kind: "bounce", effect: "bounced" });
    expect(await app.email(id)).toMatchObject({ status: "BOUNCED" });
    expect(await app.suppressions()).toMatchObject([{ email: BOB, reason: "HARD_BOUNCE" }]);
  });

  test("dsn-supplementary-info", async () => {
    const fields = read("dsn-supplementary-info/fields.txt").trim().replace("{to}", BOB);
    const { id } = await report(() => standard({ groups: [fields.split("\n")], returned: null }));
    expect(await app.suppressions()).toMatchObject([{ email: BOB, reason: "HARD_BOUNCE" }]);
    expect(app.eventsOf(id)).toContainEqual({
      name: "email.bounced",
      data: expect.objectContaining({
        class: "no_such_recipient",
        reason: expect.stringContaining('550 "Unknown User"'),
      }),
    });
  });
});

test("ironport-label-suppresses: the label of the reporting server is no reason", async () => {
  const { id } = await report(fromFile("ironport-label-suppresses/report.eml"));
  expect(await app.email(id)).toMatchObject({ status: "BOUNCED" });
  expect(app.eventsOf(id)).toContainEqual({
    name: "email.bounced",
    data: expect.objectContaining({ class: "content" }),
  });
  expect(await app.suppressions()).toEqual([]);
});
