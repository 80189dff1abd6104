import { expect, test } from "bun:test";
import { removeFolder, temporaryFolder } from "../../scripts/bench/children.ts";
import { runContent } from "../../scripts/content/run.ts";
import { verifyWithMailauth } from "../../scripts/content/signatures.ts";
import { TEMPLATES } from "../../scripts/content/templates.ts";

const LIMIT_MS = 90_000;

/** A short version of scripts/content.ts, without the verifier in Python. */
test(
  "messages of campaigns and stored templates are those of the ordinary rendering",
  async () => {
    const data = temporaryFolder();
    const report = await runContent({ data, binary: null, contacts: 5, sends: 1, seed: 7 });
    removeFolder(data);
    expect(report.faults).toEqual([]);
    expect(report.templates.filter(({ mails }) => mails < 5)).toEqual([]);
    expect(report.messages.length).toBeGreaterThan(TEMPLATES.length * 5);
    const verified = await verifyWithMailauth(report.messages, report.records);
    expect(verified).toMatchObject({ ok: true, valid: report.messages.length, faults: [] });
  },
  LIMIT_MS,
);
