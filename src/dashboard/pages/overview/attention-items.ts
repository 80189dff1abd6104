/** Describes the problems that an operator has to solve, the most urgent first. */

import type { Static } from "@sinclair/typebox";
import type { CampaignSummary } from "../../../modules/campaigns/summary-model.ts";
import type { Domain } from "../../../modules/domains/model.ts";
import type { System } from "../../../modules/system/model.ts";
import type { Webhook } from "../../../modules/webhooks/model.ts";
import { sentence, withCapital, withEnd } from "../../ui/sentence.ts";
import { sizeText } from "../../ui/size-text.ts";

export type AttentionItem = {
  key: string;
  title: string;
  /** The problem and its solution. */
  text: string;
  /** The campaign that it is about. */
  campaign?: string;
  /** The domain that it is about. */
  domain?: string;
  /** The webhook that it is about. */
  webhook?: string;
};

type Sources = {
  /** All mail is caught by this server: receivers read no records of the domains. */
  isCapturing: boolean;
  /** Undefined for users who are not owners. */
  system: System | undefined;
  domains: readonly Static<typeof Domain>[];
  webhooks: readonly Webhook[];
  pausedCampaigns: readonly Pick<CampaignSummary, "id" | "name" | "statusReason">[];
};

/** With less free space, the storage may be full within a day of sending. */
const LOW_DISK_BYTES = 1_000_000_000;
const STALLED_SECONDS = 60;

export function attentionItems(sources: Sources): AttentionItem[] {
  const { isCapturing, system, domains, webhooks, pausedCampaigns } = sources;
  return [
    ...(system === undefined ? [] : systemItems(system)),
    ...domains.filter(({ status }) => !isCapturing || status === "FAILED").flatMap(domainItems),
    ...pausedCampaigns.map(({ id, name, statusReason }) => ({
      key: id,
      title: `Campaign ${name} is paused`,
      text: statusReason === null ? "Somebody paused it." : sentence(statusReason),
      campaign: id,
    })),
    ...webhooks.flatMap(webhookItems),
  ];
}

function systemItems({ storage, queue, checks }: System): AttentionItem[] {
  const { freeBytes } = storage;
  const items: AttentionItem[] = checks.findings
    // The records of domains are read from the domains.
    .filter(({ level, what }) => level === "fail" && !what.startsWith("domain "))
    .map(({ what, finding, fix }) => ({
      key: `finding ${what} ${finding}`,
      title: withCapital(what),
      text: fix === null ? sentence(finding) : `${sentence(finding)} Fix: ${withEnd(fix)}`,
    }));
  if (freeBytes !== null && freeBytes < LOW_DISK_BYTES) {
    const text = `${sizeText(freeBytes)} are free where the data is. Without space no mail is accepted.`;
    items.unshift({ key: "disk", title: "The disk is almost full", text });
  }
  if (queue.stalledSeconds > STALLED_SECONDS) {
    const minutes = Math.round(queue.stalledSeconds / 60);
    const text = `Mail has been due for ${minutes} min., but none leaves. Read the log of the server.`;
    items.unshift({ key: "stalled", title: "The queue does not move", text });
  }
  return items;
}

function domainItems({ id, domain, status, failingSince, records }: Static<typeof Domain>) {
  if (status !== "FAILED" && failingSince === null) return [];
  const namesOf = (found: "MISSING" | "MISMATCH") =>
    records
      .filter((record) => record.required && record.status === found)
      .map(({ purpose, type, name }) => `${purpose} (${type} at ${name})`)
      .join(", ");
  const [missing, wrong] = [namesOf("MISSING"), namesOf("MISMATCH")];
  const texts = [
    missing === "" ? "" : `The DNS does not have ${missing}.`,
    wrong === "" ? "" : `The DNS has another value for ${wrong}.`,
    status === "FAILED" ? "Mails of this domain are refused." : "The domain is still verified.",
  ];
  const text = texts.filter((each) => each !== "").join(" ");
  return [{ key: id, title: `DNS of ${domain} is not correct`, text, domain: id }];
}

const REASONS = {
  FAILING: "Its receiver failed for too long.",
  GONE: "Its receiver answered that it no longer exists (410).",
};

function webhookItems({ id, url, disabledReason, failingSince }: Webhook): AttentionItem[] {
  if (disabledReason !== null) {
    const text = `${REASONS[disabledReason]} It gets no events until you enable it again.`;
    return [{ key: id, title: `Webhook ${hostOf(url)} was disabled`, text, webhook: id }];
  }
  if (failingSince === null) return [];
  const text = "Its receiver does not accept events. They are tried again.";
  return [{ key: id, title: `Webhook ${hostOf(url)} fails`, text, webhook: id }];
}

const hostOf = (url: string): string => URL.parse(url)?.host ?? url;
