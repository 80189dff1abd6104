/**
 * Takes away the route to the name server and to the mail servers while mails are accepted and
 * delivered, several times, as a cable, a VPN or a laptop that sleeps does. The process must neither end
 * nor stop answering, and all accepted mails must arrive once the route is back.
 *
 * `bun scripts/no-route.ts [--losses 3] [--seconds 5] [--binary[=PATH]]`
 *
 * It needs Linux, with `unshare` and `ip`: it runs in a network of its own, where one address stands for
 * the internet. Mails whose attempt failed are tried again after five minutes, so it takes about six.
 */

import { spawnSync } from "node:child_process";
import { directTo } from "./bench/children.ts";
import { limitAim, msAim, presenceAim, reportOutcome, whole } from "./bench/report.ts";
import { runCheck } from "./bench/run-check.ts";
import { waitUntilDrained } from "./crash/emails.ts";
import { stopAndCheck, withCrashStore } from "./crash/kills.ts";
import { openMailbox } from "./crash/mailbox.ts";
import { crashOptions } from "./crash/options.ts";
import { createSender, recipientOf } from "./crash/sender.ts";

/** Reserved for documentation (RFC 5737), so that no machine has it. */
const INTERNET = "198.51.100.1";
const DRAIN_LIMIT_MS = 12 * 60_000;
const LIVEZ_LIMIT_MS = 200;
const POLL_MS = 50;

function ip(...words: string[]): void {
  const { status, stderr } = spawnSync("ip", words, { encoding: "utf8" });
  if (status !== 0) throw new Error(`ip ${words.join(" ")}: ${stderr}`);
}

const setRoute = (action: "add" | "del") => ip("address", action, `${INTERNET}/32`, "dev", "lo");

async function loseRoute(): Promise<boolean> {
  const { losses, seconds, binary } = crashOptions("no-route.ts", { losses: 3, seconds: 5 });
  ip("link", "set", "lo", "up");
  setRoute("add");
  const mailbox = await openMailbox(INTERNET);
  const outcome = await withCrashStore({ binary, isHourly: false }, {}, async (store) => {
    const server = await store.launch(0, directTo(mailbox));
    const client = { url: `http://127.0.0.1:${store.port}`, key: store.key };
    const sender = createSender({ ...client, connections: 2 });
    const watch = watchLivez(`${client.url}/livez`);
    for (let loss = 0; loss < losses; loss++) {
      for (const action of ["del", "add"] as const) {
        const until = performance.now() + seconds * 1_000;
        await sender.run(() => performance.now() > until);
        setRoute(action);
      }
    }
    const accepted = sender.accepted.size;
    const before = mailbox.recipients();
    await waitUntilDrained(client, DRAIN_LIMIT_MS);
    const { longestMs, failures } = await watch.end();
    const arrived = [...sender.accepted.keys()].map((n) => mailbox.to(recipientOf(n)).length);
    const checks = await stopAndCheck(server, store.data);
    return {
      figures: [
        ["accepted", whole(accepted)],
        ["delivered before the last loss was over", whole(before)],
      ] as const,
      aims: [
        presenceAim("accepted", accepted, 10),
        presenceAim("waited for the route", accepted - before),
        limitAim("lost", arrived.filter((count) => count === 0).length),
        limitAim("arrived more than once", arrived.filter((count) => count > 1).length),
        limitAim("requests without an answer", sender.counts.broken),
        limitAim("failures of /livez", failures),
        msAim("slowest /livez", longestMs, LIVEZ_LIMIT_MS),
        ...checks,
      ],
    };
  });
  await mailbox.close();
  return reportOutcome(outcome);
}

/** Asks `/livez` without pause; `end` resolves to the longest answer and the number of failures. */
function watchLivez(url: string) {
  const found = { longestMs: 0, failures: 0 };
  const ending = new AbortController();
  const asking = (async () => {
    while (!ending.signal.aborted) {
      const began = performance.now();
      const response = await fetch(url).catch(() => null);
      if (response?.status !== 200) found.failures++;
      found.longestMs = Math.max(found.longestMs, performance.now() - began);
      await Bun.sleep(POLL_MS);
    }
  })();
  return {
    async end() {
      ending.abort();
      await asking;
      return found;
    },
  };
}

if (process.env["IN_OWN_NETWORK"] === "yes") await runCheck(loseRoute, 20 * 60_000);
const { status } = spawnSync(
  "unshare",
  ["--net", "--map-root-user", process.execPath, ...Bun.argv.slice(1)],
  { stdio: "inherit", env: { ...process.env, IN_OWN_NETWORK: "yes" } },
);
process.exit(status ?? 1);
