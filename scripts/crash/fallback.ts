/**
 * Sends mails through the API without pause while two relays, the first and the fallback, come and go, and
 * the server is killed and restarted. Afterwards each accepted mail must have arrived. A mail may have
 * arrived at both relays only if it was under way at a kill; at the same relay twice also if its
 * connection was cut.
 */

import { connect, createServer, type Socket } from "node:net";
import { freePort, relayTo } from "../bench/children.ts";
import { limitAim, type Outcome, presenceAim, whole } from "../bench/report.ts";
import { countEmails } from "./emails.ts";
import {
  type CrashOptions,
  killRepeatedly,
  leasedAtStarts,
  randomOf,
  runUntilDone,
  stopAndCheck,
  sum,
  withCrashStore,
} from "./kills.ts";
import { openMailbox } from "./mailbox.ts";
import { createSender, recipientOf } from "./sender.ts";

const CONNECTIONS = 4;
const MAX_UPTIME_MS = 600;
/** The relays come and go at intervals below this. */
const MAX_FLAP_MS = 120;
/** Each session may have a second mail, which was sent with the end of the first. */
const MAILS_PER_CONNECTION = 2;

/** Mails whose connection was cut are due again after minutes, so the clock is always an hourly one. */
export function crashFallback(given: CrashOptions): Promise<Outcome> {
  const options = { ...given, isHourly: true };
  return withCrashStore(options, {}, async (store) => {
    const { data, key, port } = store;
    const mailboxes = [await openMailbox(), await openMailbox("127.0.0.2")] as const;
    const [first, fallback] = [
      createDoor({ host: "127.0.0.1", port: mailboxes[0].port }),
      createDoor({ host: "127.0.0.2", port: mailboxes[1].port }),
    ];
    const fallbackUrl = `smtp://127.0.0.1:${fallback.port}?tls=none`;
    const args = [...relayTo(first.port, 0), "--fallback-relay-url", fallbackUrl];
    const client = { url: `http://127.0.0.1:${port}`, key };
    const sender = createSender({ ...client, connections: CONNECTIONS });
    const random = randomOf(options.seed + 1);
    let flap = { stop: () => Promise.resolve() };
    // Until the second start the first relay is away, so that some mail leaves by the fallback.
    await fallback.open();
    await killRepeatedly(store, options, {
      args,
      maxUptimeMs: MAX_UPTIME_MS,
      async begin(kill) {
        if (kill === 1) flap = flapping([first, fallback], random.integer);
      },
      work: (_, isOver) => sender.run(isOver),
      progress: () => sender.accepted.size,
      expectsProgress: () => true,
    });
    await flap.stop();
    const { server } = await runUntilDone(store, options, {
      args,
      start: options.kills,
      begin: () => sender.run(() => sender.unansweredCount() === 0),
      progress: () => mailboxes[0].recipients() + mailboxes[1].recipients(),
      async isDone() {
        const waiting = await countEmails(client, "?status=QUEUED");
        return waiting + (await countEmails(client, "?status=SENDING")) === 0;
      },
    });
    const checks = await stopAndCheck(server, data);
    const underWay = sum(leasedAtStarts(data));
    const counts = { delivered: 0, byFallback: 0, both: 0, repeated: 0 };
    for (const number of sender.accepted.keys()) {
      const [a, b] = mailboxes.map((mailbox) => mailbox.to(recipientOf(number)).length);
      const [atFirst, atFallback] = [a ?? 0, b ?? 0];
      if (atFirst + atFallback > 0) counts.delivered++;
      if (atFallback > 0) counts.byFallback++;
      if (atFirst > 0 && atFallback > 0) counts.both++;
      counts.repeated += Math.max(0, atFirst - 1) + Math.max(0, atFallback - 1);
    }
    await Promise.all([first, fallback].map((door) => door.shut()));
    await Promise.all(mailboxes.map((mailbox) => mailbox.close()));
    const inDoubt = underWay + MAILS_PER_CONNECTION * (first.cut() + fallback.cut());
    return {
      figures: [
        ["accepted", whole(sender.accepted.size)],
        ["delivered", whole(counts.delivered)],
        ["delivered by the fallback", whole(counts.byFallback)],
        ["under way at the kills", whole(underWay)],
        ["connections cut", whole(first.cut() + fallback.cut())],
      ],
      aims: [
        presenceAim("accepted", sender.accepted.size),
        presenceAim("delivered by the fallback", counts.byFallback),
        limitAim("lost", sender.accepted.size - counts.delivered),
        limitAim("delivered by both relays", counts.both, underWay, "the mails under way"),
        limitAim("repeated at the same relay", counts.repeated, inDoubt, "the mails in doubt"),
        ...checks,
      ],
    };
  });
}

/** A door before a server: while it is shut, connections are refused, and those that were open are cut. */
function createDoor(target: { host: string; port: number }) {
  const port = freePort();
  const open = new Set<Socket>();
  let cut = 0;
  const server = createServer((client) => {
    const inner = connect(target);
    open.add(client);
    client.on("error", () => inner.destroy());
    inner.on("error", () => client.destroy());
    client.once("close", () => {
      open.delete(client);
      inner.destroy();
    });
    client.pipe(inner).pipe(client);
  });
  return {
    port,
    cut: () => cut,
    open: () =>
      server.listening
        ? Promise.resolve()
        : new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve)),
    shut(): Promise<void> {
      if (!server.listening) return Promise.resolve();
      cut += open.size;
      return new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.resetAndDestroy();
      });
    },
  };
}

type Door = ReturnType<typeof createDoor>;

/** Opens and shuts the doors at random, until it is stopped; then they stay open. */
function flapping(doors: readonly Door[], integer: (below: number) => number) {
  const ending = new AbortController();
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      for (const door of doors) await (integer(2) === 0 ? door.shut() : door.open());
      await Bun.sleep(integer(MAX_FLAP_MS));
    }
    for (const door of doors) await door.open();
  };
  const running = run();
  return {
    async stop(): Promise<void> {
      ending.abort();
      await running;
    },
  };
}
