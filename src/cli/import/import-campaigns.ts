/**
 * The campaigns that the other product has sent, as a record of the past: they never send here. Their
 * content is written in Liquid. Where that is not possible, it is kept as text, because it is never sent.
 */

import { Type } from "@sinclair/typebox";
import { AppError } from "../../lib/errors.ts";
import { parseMailbox } from "../../protocols/mime/mailbox.ts";
import { quickTemplateErrors } from "../../render/request-mails.ts";
import { type ImportCounts, countsOf } from "./counts.ts";
import { listAll } from "./http-client.ts";
import { createObject, settle } from "./import-content.ts";
import type { ImportTarget } from "./import-people.ts";
import type { SourceCampaign } from "./source-campaign.ts";

/** The longest template here. */
const MAX_BODY_BYTES = 1024 * 1024;
const MAX_NAME = 255;
const MAX_PREHEADER = 2_000;

const Summary = Type.Object({
  imported: Type.Union([
    Type.Null(),
    Type.Object({ source: Type.String(), sourceId: Type.String() }),
  ]),
});

export async function importCampaigns(
  target: ImportTarget,
  { campaigns, source }: { campaigns: readonly SourceCampaign[]; source: string },
): Promise<ImportCounts> {
  const counts = countsOf("Campaigns", campaigns.length);
  if (campaigns.length === 0) return counts;
  const listed = await listAll(target.server, "/campaigns/summaries?imported=true", Summary);
  const known = new Set(
    listed.flatMap(({ imported }) => (imported?.source === source ? [imported.sourceId] : [])),
  );
  // The latest one is stored last, because lists show the newest row first.
  const sorted = campaigns.toSorted((a, b) => (timeOf(a) ?? 0) - (timeOf(b) ?? 0));
  for (const campaign of sorted) {
    const outcome = await settle(target, `campaign ${campaign.name}`, async () => {
      if (known.has(campaign.id)) return "unchanged";
      const request = requestOf(campaign, target);
      if (!target.isDry) {
        await createObject(target.server, "/campaigns/import", { source, ...request });
      }
      known.add(campaign.id);
      return "created";
    });
    counts[outcome]++;
  }
  return counts;
}

function requestOf(campaign: SourceCampaign, { notes }: Pick<ImportTarget, "notes">) {
  const { id, convert, counts } = campaign;
  const time = timeOf(campaign);
  if (time === null)
    notes.add(
      `Campaigns without the time at which they were sent: their list shows when they were imported`,
    );
  const subject = oneLine(campaign.subject) || oneLine(campaign.name) || "(no subject)";
  const sender = mailboxOf(campaign.from);
  const liquid = (field: "subject" | "preheader" | "body", text: string) => {
    const { source, isText } = asLiquid(field, text, convert);
    if (isText) notes.add("Placeholders of campaigns that have no equal here are kept as text");
    return source;
  };
  const body =
    campaign.body === null || campaign.body === "" ? null : liquid("body", campaign.body);
  if (body === null)
    notes.add("Campaigns whose body the product does not give are imported without it");
  if (body !== null && Buffer.byteLength(body) > MAX_BODY_BYTES) {
    throw new AppError(422, "TOO_LARGE", "its body is longer than 1 MiB");
  }
  const preheader = oneLine(campaign.preheader ?? "").slice(0, MAX_PREHEADER);
  return {
    sourceId: id,
    name: oneLine(campaign.name).slice(0, MAX_NAME) || subject.slice(0, MAX_NAME),
    subject: liquid("subject", subject),
    body,
    preheader: preheader === "" ? null : liquid("preheader", preheader),
    from: sender?.address ?? null,
    fromName: sender?.name?.includes("{{") === false ? sender.name : null,
    replyTo: mailboxOf(campaign.replyTo)?.address ?? null,
    sentAt: time === null ? null : new Date(time).toISOString(),
    counts: Object.fromEntries(Object.entries(counts).filter(([, count]) => isCount(count))),
  };
}

/** A product may give an average, or -1 for a number that it does not know. */
const isCount = (count: unknown): boolean => Number.isSafeInteger(count) && Number(count) >= 0;

const oneLine = (text: string): string => text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();

const END_OF_RAW = /\{%-?\s{0,9}endraw\s{0,9}-?%\}/g;

/** The source in Liquid; as text that nothing is put into, if it has placeholders of another language. */
function asLiquid(
  field: "subject" | "preheader" | "body",
  source: string,
  convert: SourceCampaign["convert"],
): { source: string; isText: boolean } {
  const converted = convert(source);
  const faultOf = (text: string) => quickTemplateErrors({ [field]: text }, { isLenient: false })[0];
  if (converted !== null && faultOf(converted) === undefined)
    return { source: converted, isText: false };
  const text = `{% raw %}${source.replaceAll(END_OF_RAW, "")}{% endraw %}`;
  const fault = faultOf(text);
  if (fault !== undefined) throw new AppError(422, "INVALID", `${fault.field} ${fault.message}`);
  return { source: text, isText: true };
}

function mailboxOf(
  text: string | null | undefined,
): { address: string; name: string | null } | null {
  if (text === null || text === undefined || text === "") return null;
  const parsed = parseMailbox(text, { mayHaveCommas: true });
  return parsed.ok ? parsed.mailbox : null;
}

/** Milliseconds; null if the product gives no time. */
function timeOf({ sentAt }: SourceCampaign): number | null {
  if (sentAt === null || sentAt === undefined) return null;
  const text = sentAt.trim();
  const hasZone = /(?:Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)$/i.test(text);
  const times = hasZone ? [text] : [`${text} UTC`, `${text}Z`];
  return times.map(Date.parse).find((time) => Number.isFinite(time) && time > 0) ?? null;
}
