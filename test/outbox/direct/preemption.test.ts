/** A mail at a silent server loses its connection when other mail needs it. */

import { afterEach, describe, expect, test } from "bun:test";
import { type Outcome, sendOne } from "../../../src/outbox/outcome.ts";
import type { DirectOptions } from "../../../src/outbox/transports/direct.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { settleEventLoop, waitUntil } from "../../support/eventually.ts";
import type { ScriptOptions } from "../../support/smtp-script.ts";
import {
  openConnections,
  SILENT,
  startTarpitNet,
  startTarpits,
  tarpits,
} from "../../support/tarpit-net.ts";

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

describe("a silent server", () => {
  async function sender(options: Partial<DirectOptions>, count: number, server = SILENT) {
    const net = await startTarpitNet();
    closers.push(() => net.close());
    const servers = await startTarpits(net, count, server);
    const transport = net.transport(options);
    closers.push(async () => {
      const closed = transport.close();
      await settleEventLoop();
      // Otherwise the transport would wait for the servers for two seconds of real time.
      for (const each of servers) each.drop();
      await closed;
    });
    return {
      net,
      servers,
      transport,
      /**
       * Starts to send a mail, resolves once the server has received `lines` lines, and returns a
       * promise of the outcome.
       */
      async send(tarpit: number, lines = 0): Promise<{ outcome: Promise<Outcome> }> {
        const outcome = sendOne(transport, {
          envelope: { from: "a@sender.test", to: `b@tarpit${tarpit}.test` },
          message: Buffer.from("Subject: a\r\n\r\nb\r\n"),
        });
        await waitUntil(() => servers[tarpit]?.transcripts.at(-1)?.length === lines);
        return { outcome };
      },
    };
  }

  test("is given a shorter timeout while connection slots are scarce", async () => {
    const timeouts = { greetingMs: 60_000, hurriedGreetingMs: 200 };
    const { net, transport, send } = await sender({ timeouts }, 10);
    const [first] = await Promise.all(tarpits(10).map((_, i) => send(i)));
    // Now a fifth of the slots is used by servers that never answered.
    net.clock.advance(2_000);
    transport.admit("b@good0.test");
    expect(await first?.outcome).toMatchObject({
      kind: "deferred",
      class: "infrastructure",
      reason: expect.stringContaining("failed at greeting: no answer within 0.2 s"),
    });
  });

  test.each([
    ["greeting", 0],
    ["starttls", 2],
    ["mail", 2],
  ] as const)("at %s loses its connection once all are used", async (step, lines) => {
    const logged: string[] = [];
    const log = { ...silentLog, info: (message: string) => void logged.push(message) };
    const extensions = step === "starttls" ? ["STARTTLS"] : [];
    const server = { script: { [step]: "hang" }, extensions } satisfies ScriptOptions;
    const { net, servers, send } = await sender({ concurrency: 1, log }, 5, server);
    const sent: Awaited<ReturnType<typeof send>>[] = [];
    for (let i = 0; i < 5; i++) {
      sent.push(await send(i, lines));
      net.clock.advance(2_000);
    }
    const outcome = await sent[0]?.outcome;
    expect(outcome).toMatchObject({ kind: "deferred", class: "infrastructure" });
    expect(outcome?.reason).toContain(`failed at ${step}: interrupted`);
    // There is no second try, and TLS is not disabled for the server.
    expect(outcome?.conversations).toHaveLength(1);
    expect(logged).toEqual([]);
    await waitUntil(() => servers[0]?.ended === 1);
    expect(openConnections(servers)).toBe(4);
  });
});
