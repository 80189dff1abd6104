import { expect, test } from "bun:test";
import { createAttempt, type Verdict } from "../../src/outbox/attempt.ts";
import type { LeasedMail } from "../../src/outbox/lease-rows.ts";
import { ACCEPTED, testTransport } from "../support/transport.ts";
import { mailRow } from "../support/compose.ts";

/** Attempts a mail of a campaign, and returns what it called. */
async function attemptWith(faulty: "isCampaignSending" | "returnPathOf" | "prepare") {
  const calls: string[] = [];
  const act = <T>(name: string, result: T): T => {
    if (name === faulty) throw new Error(`${name} is faulty`);
    return result;
  };
  const message = Buffer.from("Subject: Hi\r\n\r\nHi\r\n");
  const attempt = createAttempt({
    composer: {
      prepare: (_, { resolve }) =>
        resolve(act("prepare", { kind: "prepared" as const, subject: "Hi", message })),
      release: () => void calls.push("released"),
    },
    transport: testTransport({ answer: ACCEPTED }),
    isSenderVerified: () => true,
    isCampaignSending: () => act("isCampaignSending", true),
    returnPathOf: () => act("returnPathOf", "b@bounce.acme.test"),
  });
  const mail: LeasedMail = {
    ...mailRow({ campaignSeq: 1 }),
    seq: 1,
    attempts: 1,
    dueAt: 0,
    slot: null,
    busy: null,
    priority: 1,
    projectSeq: 1,
    isProjectEnabled: true,
    isTest: false,
    contactSeq: 1,
    isSubscribed: true,
    suppression: null,
    envelopeFrom: null,
  };
  const ended = await new Promise<Verdict | Error>((resolve, reject) => {
    attempt(mail, (begin) => begin(() => void calls.push("task ended")), {
      resolve,
      reject: (error) => (error instanceof Error ? resolve(error) : reject(error)),
    });
  }).catch((error: unknown) => error);
  return { calls, ended: ended instanceof Error ? ended.message : ended };
}

test("a look-up of the campaign that throws ends the task and the mail, and releases the message", async () => {
  expect(await attemptWith("isCampaignSending")).toEqual({
    calls: ["task ended", "released"],
    ended: "isCampaignSending is faulty",
  });
});

test.each(["returnPathOf", "prepare"] as const)(
  "%s that throws ends the mail before a message is held",
  async (faulty) => {
    expect(await attemptWith(faulty)).toEqual({ calls: [], ended: `${faulty} is faulty` });
  },
);
