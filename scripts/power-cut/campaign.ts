/**
 * Load: a campaign is sent through a relay. In each state that the disk may have, a mail whose
 * message left must be leased or SENT, a mail that is SENT must have left, and no more mails may be
 * leased, and so be in doubt, than the server leases ahead.
 */

import type { Database } from "bun:sqlite";
import { Type } from "@sinclair/typebox";
import { startSink } from "../../test/support/smtp-sink.ts";
import { createApi } from "../bench/api.ts";
import { relayTo } from "../bench/children.ts";
import { BODY, SENDER } from "../bench/mail.ts";
import { limitAim, presenceAim, whole } from "../bench/report.ts";
import { MAX_LEASED } from "../../src/outbox/lane/capacity.ts";
import { addContacts } from "../crash/campaign.ts";
import { type Load, mostOf, totalOf } from "./load.ts";

const STEPS_PER_MAIL = 8;
const POLL_MS = 200;
const LIMIT_MS = 20 * 60_000;
const MESSAGE_ID = /^Message-ID: <([0-9a-f-]{36})@/gim;
/** Longest beginning of a Message-ID line that may be at the end of a write. */
const TAIL_LENGTH = 80;

const Created = Type.Object({ data: Type.Object({ id: Type.String() }) });
const Shown = Type.Object({ data: Type.Object({ status: Type.String() }) });

export async function createCampaignLoad(data: string, mails: number): Promise<Load> {
  addContacts(data, mails);
  const sink = await startSink({ countOnly: true });
  /** Ids of the mails whose message the server began to send. */
  const left = new Set<string>();
  /** The end of what was written to each socket. */
  const tails = new Map<string, string>();

  return {
    args: relayTo(sink.port, 0),
    steps: mails * STEPS_PER_MAIL,
    run: (server, key) => sendCampaign(server, key),
    noteSend(socket, text) {
      const all = (tails.get(socket) ?? "") + text;
      for (const [, id = ""] of all.matchAll(MESSAGE_ID)) left.add(id);
      tails.set(socket, all.slice(-TAIL_LENGTH));
    },
    check(sqlite) {
      const sent = idsOf(sqlite, "status IN ('SENT', 'DELIVERED')");
      const leased = idsOf(sqlite, "status = 'SENDING'");
      return {
        sentOnly: sent.difference(left).size,
        leftOnly: left.difference(sent).difference(leased).size,
        leased: leased.size,
        inDoubt: leased.intersection(left).size,
      };
    },
    report: (findings) => ({
      figures: [
        ["mails that left", whole(left.size)],
        ["most mails that left and were not settled", whole(mostOf(findings, "inDoubt"))],
      ],
      aims: [
        limitAim("SENT without having left", totalOf(findings, "sentOnly")),
        limitAim("left without a lease", totalOf(findings, "leftOnly")),
        limitAim("most mails leased after a cut", mostOf(findings, "leased"), MAX_LEASED),
        presenceAim("arrived", sink.counts.messages, mails),
      ],
    }),
    close: () => sink.close(),
  };
}

function idsOf(sqlite: Database, condition: string): Set<string> {
  const rows = sqlite.query<{ id: string }, []>(`SELECT id FROM emails WHERE ${condition}`).all();
  return new Set(rows.map(({ id }) => id));
}

async function sendCampaign(server: { port: number }, key: string): Promise<void> {
  const api = createApi(server, key);
  const content = { name: "News", subject: "News", body: BODY, from: SENDER, audienceType: "ALL" };
  const { data } = await api.read(Created, "POST", "/campaigns", content);
  await api.send("POST", `/campaigns/${data.id}/send`);
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    const shown = await api.read(Shown, "GET", `/campaigns/${data.id}`);
    if (shown.data.status === "SENT") return;
    if (performance.now() > deadline) throw new Error(`the campaign is ${shown.data.status}`);
    await Bun.sleep(POLL_MS);
  }
}
