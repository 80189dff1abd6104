/** The outcome of an attempt for every fault at every step of a direct delivery. */

import { describe, expect, test } from "bun:test";
import type { Outcome } from "../../../src/outbox/outcome.ts";
import { FAULT_CELLS, type FaultCell } from "../../support/fault-matrix.ts";
import { startMailNet } from "../../support/mail-net.ts";

const RECORDS = {
  "fault.test": { MX: ["10 mx.fault.test"] },
  "mx.fault.test": { A: ["127.0.0.2"] },
};

async function run({ server, timeouts, messageBytes }: FaultCell) {
  const net = await startMailNet({ records: RECORDS, dnsTimeoutMs: 10_000 });
  const host = await net.script(2, server);
  const transport = net.transport({ timeouts });
  const outcome: Outcome = await transport.send({
    envelope: { from: "a@sender.test", to: "b@fault.test" },
    message: Buffer.alloc(messageBytes, "Subject: a\r\n\r\nb\r\n"),
  });
  await transport.close();
  await net.close();
  return { outcome, host };
}

describe("every fault at every step", () => {
  test("is in the table", () => {
    expect(FAULT_CELLS.length).toBe(110);
  });

  for (const cell of FAULT_CELLS) {
    test(cell.name, async () => {
      const { outcome, host } = await run(cell);
      const { kind, class: found, isUnknown = false } = cell.expected;
      expect(outcome).toMatchObject({ kind, class: found });
      expect(outcome.reason.includes("is unknown")).toBe(isUnknown);
      expect(outcome.kind === "accepted" && outcome.final).toBe(kind === "accepted");
      // A mail arrives at most once: a mail with an unknown outcome is not sent again.
      const arrived = host.bodies.filter((body) => body.includes("Subject"));
      expect(arrived.length).toBe(hasBody(cell) ? 1 : 0);
      const isInClear = cell.step === "starttls" && !CONTINUES_AFTER.has(cell.fault);
      expect(outcome.conversations.length).toBe(isInClear ? 2 : 1);
      const secured = outcome.conversations.at(-1)?.tls !== null;
      expect(secured).toBe(cell.step === "starttls" && !isInClear);
    });
  }
});

const CONTINUES_AFTER: ReadonlySet<FaultCell["fault"]> = new Set(["slow", "multiline", "huge"]);

function hasBody({ step, expected }: FaultCell): boolean {
  return expected.kind === "accepted" || step === "dot";
}
