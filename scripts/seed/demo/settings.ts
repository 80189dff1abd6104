/**
 * Creates the objects that exist before the first mail: domains, keys, templates, segments,
 * workflows.
 */

import type { Server } from "../../../src/app.ts";
import type { Db } from "../../../src/db/open.ts";
import { prepareDomain } from "../../../src/modules/domains/domains.ts";
import type { EmailStore } from "../../../src/outbox/enqueue.ts";
import { isRecord } from "../../../src/http/validation.ts";
import { domainOf } from "../../../src/protocols/mime/address.ts";
import { stringAt, valueAt } from "../../../test/support/json.ts";
import type { Api, SetClock } from "./api.ts";
import { SEGMENTS } from "./campaign-texts.ts";
import type { StoredWorkflow } from "./executions.ts";
import { DAY_MS } from "./people.ts";
import { NEWS_SENDER, ORDERS_SENDER, SHOP, TEMPLATES } from "./template-texts.ts";
import type { StoredTemplate } from "./transactional.ts";
import { WORKFLOWS } from "./workflow-texts.ts";
import { createKey } from "../../../src/modules/keys.ts";
import { countForm } from "../../../src/modules/forms/counts.ts";
import { findForm } from "../../../src/modules/forms/form-store.ts";

export type Setting = {
  app: Server;
  api: Api;
  db: Db;
  clock: SetClock;
  projectSeq: number;
  untilMs: number;
};

const DOMAINS = [
  { domain: "harbourbooks.example", status: "VERIFIED", days: 360 },
  { domain: "mail.harbourbooks.example", status: "VERIFIED", days: 350 },
  { domain: "harbour-events.example", status: "PENDING", days: 2 },
  { domain: "old-harbour-shop.example", status: "FAILED", days: 200 },
] as const;

/** Adds a verified domain, with its keys, before anything that names it as the sender. */
export async function addDomains({
  app,
  api,
  db,
  clock,
  projectSeq,
  untilMs,
}: Setting): Promise<void> {
  for (const { domain, status, days } of DOMAINS) {
    clock.set(untilMs - days * DAY_MS);
    const isDeclaredVerified = status === "VERIFIED";
    const add = await prepareDomain(app.app, { projectSeq, domain, isDeclaredVerified });
    const { id } = (await app.writer.write(() => add())).row;
    const records = valueAt(await api.call("GET", `/domains/${id}`), "data.records");
    const findings = JSON.stringify(findingsOf(records, status));
    const checkedAt = untilMs - 25 * 60_000;
    db.sqlite
      .query(
        `UPDATE domains SET status = ?, findings = ?, last_checked_at = ?, next_check_at = ?,
           verified_at = iif(?1 = 'PENDING', NULL, created_at + 3600000), failing_since = ?,
           has_return_path = ?1 = 'VERIFIED', is_by_word = ?1 = 'VERIFIED', misses = ? WHERE id = ?`,
      )
      .run(
        status,
        findings,
        checkedAt,
        untilMs + DAY_MS,
        status === "FAILED" ? untilMs - 4 * DAY_MS : null,
        status === "FAILED" ? 12 : 0,
        id,
      );
  }
}

/** Findings as a DNS check stores them: all records are right, or only SPF is. */
function findingsOf(records: unknown, status: string): object[] {
  if (!Array.isArray(records)) throw new Error("a domain without records");
  return records.filter(isRecord).map(({ purpose, type, name, value }, i) => {
    const isRight = status === "VERIFIED" || purpose === "SPF";
    const isOther = status === "FAILED" && i === 0;
    const found = isRight ? [value] : isOther ? ["v=DKIM1; k=rsa; p="] : [];
    return {
      purpose,
      type,
      name,
      status: isRight ? "OK" : isOther ? "MISMATCH" : "MISSING",
      found,
    };
  });
}

/** Keys of programs, each with the scopes that it needs, and the requests of their latest 30 days. */
export async function addKeys({ app, db, clock, projectSeq, untilMs }: Setting): Promise<void> {
  type Key = Parameters<typeof createKey>[2];
  const add = (days: number, name: string, key: Partial<Key>) => {
    clock.set(untilMs - days * DAY_MS);
    const fields = { kind: "SECRET", expiresAt: null, ...key, name } as const;
    return app.writer.write(() => void createKey(app.app, projectSeq, fields));
  };
  const domains = [domainOf(ORDERS_SENDER)];
  await add(340, "Shop system", { scope: "SEND", domains });
  await add(330, "Website", { kind: "PUBLIC", origins: ["https://harbourbooks.example"] });
  await add(150, "Warehouse", { expiresAt: untilMs + 40 * DAY_MS, ipRanges: ["203.0.113.0/24"] });
  await add(120, "Customer database", { scope: "CONTACTS" });
  await add(90, "Agency (ended)", { scope: "READ" });
  await add(75, "Blog", { kind: "SMTP", scope: "SEND", domains, ipRanges: ["203.0.113.7"] });
  await add(60, "Load test", { expiresAt: untilMs - 30 * DAY_MS });
  const { sqlite } = db;
  sqlite.run("UPDATE api_keys SET revoked_at = ? WHERE name = 'Agency (ended)'", [
    untilMs - 20 * DAY_MS,
  ]);
  const today = Math.floor(untilMs / DAY_MS);
  const uses = Array.from({ length: 30 }, (_, n) => [today - n, 90 + ((today - n) % 7) * 12]);
  sqlite.run(
    `UPDATE api_keys SET last_used_at = ? - (seq - 2) * 3600000, uses = ?
     WHERE name IN ('Shop system', 'Website', 'Warehouse', 'Customer database', 'Blog')`,
    [untilMs, JSON.stringify(Object.fromEntries(uses))],
  );
}

/** Creates the templates, and the message that the mails of each share. */
export async function addTemplates(
  { api, clock, projectSeq, untilMs }: Setting,
  store: Pick<EmailStore, "saveMessage">,
): Promise<Map<string, StoredTemplate>> {
  const templates = new Map<string, StoredTemplate>();
  for (const [i, { key, name, type, subject, body }] of TEMPLATES.entries()) {
    const createdAt = untilMs - (364 - i) * DAY_MS;
    clock.set(createdAt);
    const isMarketing = type === "MARKETING";
    const from = isMarketing ? NEWS_SENDER : ORDERS_SENDER;
    const id = await api.create("/templates", { name, type, subject, body, from, fromName: SHOP });
    const messageSeq = store.saveMessage(
      {
        projectSeq,
        fromAddress: from,
        fromName: SHOP,
        replyTo: null,
        html: body,
        headers: [],
        isMarketing,
        attachments: key === "invoice" ? [invoice()] : [],
      },
      createdAt,
    );
    templates.set(key, { id, subject, messageSeq, isMarketing });
  }
  return templates;
}

/** Kinds of marketing mail. No template and no campaign of the shop belongs to one yet. */
export async function addTopics({ api }: Setting): Promise<void> {
  const topics = [
    { name: "New books", description: "What has just arrived, every month", default: "SUBSCRIBED" },
    { name: "Readings in the shop", description: "Evenings with authors", default: "UNSUBSCRIBED" },
    { name: "Trade customers", default: "UNSUBSCRIBED", visibility: "PRIVATE" },
  ];
  for (const topic of topics) await api.create("/topics", topic);
}

/** So many days has the form of the shop been on its page. */
const FORM_DAYS = 90;

/** The sign-up form of the shop with the figures of its days; more people come on weekends. */
export async function addForm({ app, api, clock, untilMs }: Setting): Promise<void> {
  clock.set(untilMs - FORM_DAYS * DAY_MS);
  const id = await api.create("/forms", {
    name: "Page of the shop",
    title: "Letters from the harbour",
    description: "New books and readings in the shop, once a month.",
    fields: [
      { name: "firstName", label: "First name", kind: "TEXT" },
      {
        name: "favourite",
        label: "What do you like to read?",
        kind: "CHOICE",
        options: ["Novels", "Crime", "Sea and ships", "Cooking"],
      },
    ],
    consent: { wording: "Harbour Books may send me its letter. I can leave at any time." },
    origins: ["https://harbourbooks.example"],
  });
  const form = findForm(app.app, { id });
  if (form === null) throw new Error("the form was not stored");
  for (let day = FORM_DAYS; day > 0; day--) {
    const at = untilMs - day * DAY_MS;
    clock.set(at);
    const isWeekend = [0, 6].includes(new Date(at).getUTCDay());
    const shown = (isWeekend ? 60 : 34) + ((day * 7) % 23);
    const submitted = Math.round(shown * (0.14 + ((day * 3) % 5) / 50));
    const confirmed = Math.round(submitted * 0.82);
    await app.writer.write(() => countForm(app.app, form.seq, { shown, submitted, confirmed }));
  }
}

function invoice() {
  return {
    filename: "invoice.pdf",
    contentType: "application/pdf",
    contentId: null,
    disposition: "attachment" as const,
    bytes: Buffer.from("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"),
  };
}

/** Returns the ids of the segments in the order of SEGMENTS. */
export async function addSegments({ api, clock, untilMs }: Setting): Promise<string[]> {
  const ids: string[] = [];
  for (const [i, segment] of SEGMENTS.entries()) {
    clock.set(untilMs - (362 - i * 20) * DAY_MS);
    const { name, description, condition, trackMembership = false } = segment;
    const rest =
      condition === null ? { type: "STATIC" } : { type: "DYNAMIC", condition, trackMembership };
    ids.push(await api.create("/segments", { name, description, ...rest }));
  }
  return ids;
}

/** Space between two steps in the editor. */
const STEP_HEIGHT = 140;

export async function addWorkflows(
  { api, clock, db, untilMs }: Setting,
  templates: ReadonlyMap<string, StoredTemplate>,
): Promise<StoredWorkflow[]> {
  for (const [i, text] of WORKFLOWS.entries()) {
    clock.set(untilMs - (300 - i * 35) * DAY_MS);
    const { name, description, enabled, allowReentry, event, transitions } = text;
    const steps = text.steps.map((step, row) => ({
      ...step,
      position: { x: 0, y: (row + 1) * STEP_HEIGHT },
      config:
        step.type === "SEND_EMAIL"
          ? { templateId: templates.get(String(step.config["templateId"]))?.id }
          : step.config,
    }));
    const trigger = { type: "EVENT", eventName: event };
    const settings = { name, description, enabled, allowReentry };
    await api.create("/workflows", { ...settings, trigger, steps, transitions });
  }
  return db.sqlite
    .query<{ seq: number; versionSeq: number; createdAt: number }, []>(
      "SELECT seq, version_seq AS versionSeq, created_at AS createdAt FROM workflows ORDER BY seq",
    )
    .all()
    .flatMap((row, i) => {
      const text = WORKFLOWS[i];
      return text === undefined ? [] : [{ ...row, text }];
    });
}

/** Creates the second inbox; the first one is created with its first message. */
export async function addInbox({ api, clock, untilMs }: Setting): Promise<string> {
  clock.set(untilMs - 20 * DAY_MS);
  return stringAt(await api.call("POST", "/inboxes", { name: "checkout-tests" }), "data.id");
}
