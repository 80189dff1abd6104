/** Urgent mail to a site does not wait for the pace of other mail to it. */

import { afterEach, expect, test } from "bun:test";
import type { DirectSlot } from "../../../src/outbox/direct/gate.ts";
import type { Outcome } from "../../../src/outbox/outcome.ts";
import { busyOf } from "../../../src/outbox/record.ts";
import type { PacedTask } from "../../../src/outbox/pace.ts";
import { settleEventLoop, waitUntil } from "../../support/eventually.ts";
import { startMailNet } from "../../support/mail-net.ts";

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** Sends mails to one site, at which two may be under way. They wait until the test lets them leave. */
async function startSender() {
  const net = await startMailNet({ records: { "fast.test": { A: ["127.0.0.2"] } } });
  closers.push(() => net.close());
  const server = await net.script(2);
  /** The mails that wait for the pace, by their sender. */
  const waiting = new Map<string, PacedTask>();
  /** The sender of the mail that begins to wait. */
  let latest = "";
  const transport = net.transport({ pace: (task) => void waiting.set(latest, task) });
  closers.push(() => transport.close());

  function send(name: string, { isUrgent = false, slot }: SendOptions = {}): Promise<Outcome> {
    return new Promise((end, fail) =>
      transport.start({
        envelope: { from: `${name}@sender.test`, to: "b@fast.test" },
        message: Buffer.from("Subject: a\r\n\r\nb\r\n"),
        isUrgent,
        slot: slot ?? null,
        end,
        fail,
        set waitsFor(value: "turn" | "server") {
          if (value === "turn") latest = name;
        },
      }),
    );
  }

  return {
    server,
    transport,
    waiting,
    send,
    /** Sends two mails; resolves once both wait for the pace. */
    async fillSite(): Promise<Promise<Outcome>[]> {
      const outcomes = [send("first"), send("second")];
      await waitUntil(() => waiting.size === 2);
      return outcomes;
    },
    allow: (name: string) => waiting.get(name)?.(() => {}),
    senders: () =>
      server.transcripts.flat().flatMap((line) => /^MAIL FROM:<(\w+)@/.exec(line)?.[1] ?? []),
  };
}

type SendOptions = { isUrgent?: boolean; slot?: DirectSlot };

test("an urgent mail uses slot and session of a mail that waits for the pace", async () => {
  const { server, waiting, send, fillSite, allow, senders } = await startSender();
  const [first, second] = await fillSite();
  const urgent = send("urgent", { isUrgent: true });
  const taken = await second;
  expect(taken).toMatchObject({ kind: "deferred", conversations: [] });
  expect(taken === undefined ? null : busyOf(taken)).toMatchObject({ waitList: "fast.test" });
  await waitUntil(() => waiting.size === 3);
  // The pace does not know that this mail is in the queue again.
  allow("second");
  allow("urgent");
  expect(await urgent).toMatchObject({ kind: "accepted" });
  allow("first");
  expect(await first).toMatchObject({ kind: "accepted" });
  expect(senders().toSorted()).toEqual(["first", "urgent"]);
  expect(server.transcripts).toHaveLength(2);
});

test("an urgent mail waits while the mails to its site are on their way", async () => {
  const { transport, fillSite, allow, senders } = await startSender();
  const sent = await fillSite();
  allow("first");
  allow("second");
  expect(transport.admit("b@fast.test", true)).toMatchObject({ kind: "busy", why: "full" });
  for (const outcome of sent) expect(await outcome).toMatchObject({ kind: "accepted" });
  expect(senders().toSorted()).toEqual(["first", "second"]);
});

test("an urgent mail that waits for the pace keeps its slot", async () => {
  const { transport, waiting, send, allow } = await startSender();
  const slots = [1, 2].map(() => transport.admit("b@fast.test", true));
  const sent = slots.map((slot, i) => {
    if (slot.kind !== "slot") throw new Error(slot.reason);
    return send(`urgent${i}`, { isUrgent: true, slot });
  });
  await waitUntil(() => waiting.size === 2);
  expect(transport.admit("b@fast.test", true)).toMatchObject({ kind: "busy" });
  await settleEventLoop();
  for (const name of ["urgent0", "urgent1"]) allow(name);
  for (const outcome of sent) expect(await outcome).toMatchObject({ kind: "accepted" });
});
