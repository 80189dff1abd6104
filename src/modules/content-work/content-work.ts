/**
 * Renders and checks the content of mails for requests, in threads, because a template may take a
 * second and a large message a tenth of one (lib/thread-pool.ts). In order: the mails of a request
 * that are certainly cheap are rendered on the event loop, within a few milliseconds; everything else
 * waits for a thread. Projects take turns. Work that mail depends on comes before previews and checks
 * of the same project. If too much of a project waits, the request is refused with 503.
 *
 * Mail that is sent is composed by threads of its own (outbox/compose/pool.ts).
 */

import { availableParallelism } from "node:os";
import type { HtmlSupport } from "../../checks/html-support/check.ts";
import type { App } from "../../core/app.ts";
import { AppError, validationError } from "../../lib/errors.ts";
import { isLoopbackHost } from "../../lib/loopback-host.ts";
import { perApp } from "../../lib/per-app.ts";
import { threadFile } from "../../lib/thread-file.ts";
import { parseUrl } from "../../lib/url.ts";
import { createThreadPool, type PoolJob, ThreadPoolError } from "../../lib/thread-pool.ts";
import { type InlineImage, previewDocument } from "../../render/preview-document.ts";
import {
  compileSource,
  isCheapRequest,
  isLargeTemplate,
  renderMails,
  type RequestMails,
} from "../../render/request-mails.ts";
import { compiledTemplates } from "../../render/template/cache.ts";
import { type Placeholder, placeholdersOf } from "../../render/template/placeholder-names.ts";
import { textOfHtml } from "../../render/text-on-demand.ts";
import {
  isCheapWebhook,
  renderWebhookRequest,
  type WebhookResult,
  type WebhookTemplates,
} from "../../render/webhook-request.ts";
import type { Module } from "../module.ts";
import {
  type CheckedMail,
  type CheckedMessage,
  type ContentResult,
  type ContentTask,
  type DraftEnvelope,
  type DraftMail,
  type MessageFindings,
  type ShownDraft,
  type ShownMail,
  withoutBody,
} from "./tasks.ts";

/** With more threads, those of one machine would take too much memory. */
const THREADS = Math.max(2, Math.min(availableParallelism(), 4));
const MAX_WAITING = 32;
/** As long as a request waits for memory for its body (http/body.ts). */
const WAIT_MS = 15_000;
/** A render has at most two seconds by the clock. */
const LIMIT_MS = 20_000;
const IDLE_MS = 60_000;
const RETRY_SECONDS = 5;
/** Longest time on the event loop for the mails of a request. If it is over, a thread renders them. */
const LOOP_MS = 10;
/** Longest HTML that is converted on the event loop, in UTF-16 units. */
const MAX_SMALL_HTML = 8 * 1024;

const FILE = threadFile(import.meta.url, {
  beside: "./worker.ts",
  inExecutable: "./modules/content-work/worker.js",
});

const threads = perApp(() =>
  createThreadPool<ContentTask, ContentResult>({
    file: FILE,
    maxThreads: THREADS,
    maxOfOwner: Math.ceil(THREADS / 2),
    maxWaiting: MAX_WAITING,
    waitMs: WAIT_MS,
    limitMs: LIMIT_MS,
    idleMs: IDLE_MS,
  }),
);

/** Refuses all work when the server stops, because it waits for the requests under way. */
export function contentWorkModule(app: App): Module {
  return { name: "content work", endRequests: () => threads(app).close() };
}

type Kind = ContentResult["kind"];
type Work = Omit<PoolJob<ContentTask>, "owner">;

async function run<K extends Kind>(
  app: App,
  projectSeq: number,
  kind: K,
  work: Work,
): Promise<Extract<ContentResult, { kind: K }>> {
  try {
    const result = await threads(app).run({ owner: projectSeq, ...work });
    if (isOfKind(result, kind)) return result;
    throw new Error(`a thread answered ${result.kind} instead of ${kind}`);
  } catch (error) {
    throw error instanceof ThreadPoolError ? refusalOf(error) : error;
  }
}

function isOfKind<K extends Kind>(
  result: ContentResult,
  kind: K,
): result is Extract<ContentResult, { kind: K }> {
  return result.kind === kind;
}

/**
 * Renders the mails of a request, to find the mails that cannot be sent: the result for each
 * recipient, up to the one at which the time of the request was spent. Throws 422 for a syntax
 * error. `isUrgent`: whether mail will be sent, and not only shown.
 */
export async function checkMails(
  app: App,
  projectSeq: number,
  mails: RequestMails,
  { isUrgent }: { isUrgent: boolean },
): Promise<CheckedMail[]> {
  const checked = isCheapRequest(mails) ? checkMailsBriefly(app, mails) : null;
  if (checked !== null) return checked;
  const task = { kind: "mails" as const, mails };
  const result = await run(app, projectSeq, "mails", { isUrgent, prepare: () => task });
  if (result.errors.length > 0) throw validationError(result.errors);
  return result.mails;
}

/**
 * Throws 422 with the syntax errors of the sources that are too large for `quickTemplateErrors`. The
 * others were checked before.
 */
export async function ensureTemplates(
  app: App,
  projectSeq: number,
  { subject = "", body = "" }: { subject?: string | undefined; body?: string | undefined },
  isLenient: boolean,
): Promise<void> {
  if (!isLargeTemplate(subject) && !isLargeTemplate(body)) return;
  const mails: RequestMails = {
    source: { subject, body },
    given: { subject: true, body: true },
    isLenient,
    project: { name: "", language: "" },
    recipients: [],
  };
  const task = { kind: "mails" as const, mails };
  const { errors } = await run(app, projectSeq, "mails", { isUrgent: true, prepare: () => task });
  if (errors.length > 0) throw validationError(errors);
}

/** The variables that subject and body need. */
export async function findPlaceholders(
  app: App,
  projectSeq: number,
  sources: readonly string[],
): Promise<Placeholder[]> {
  if (!sources.some(isLargeTemplate)) return placeholdersOf(sources);
  const task = { kind: "placeholders" as const, sources };
  const work = { isUrgent: false, prepare: () => task };
  return (await run(app, projectSeq, "placeholders", work)).placeholders;
}

/** `checkMails` on the event loop; null if that takes longer than some milliseconds. */
export function checkMailsBriefly(app: App, mails: RequestMails): CheckedMail[] | null {
  const source = compileSource(compiledTemplates(app), mails);
  if (!source.ok) throw validationError(source.errors);
  const checked = [...renderMails(source.compiled, mails, LOOP_MS)].map(withoutBody);
  return checked.some(({ kind }) => kind === "spent") ? null : checked;
}

/** Renders one mail as its recipient would see it. Throws 422 if it cannot be rendered. */
export async function renderPreview(
  app: App,
  projectSeq: number,
  preview: { mails: RequestMails; emailId: string; isMarketing: boolean; utm: string | null },
): Promise<ShownMail> {
  const task = { kind: "preview" as const, ...preview };
  const work = { isUrgent: false, prepare: () => task };
  const { errors, mail } = await run(app, projectSeq, "preview", work);
  if (mail === null) throw validationError(errors);
  return mail;
}

/** Renders a template that is being written, and checks its message if there is an envelope. */
export async function showDraft(
  app: App,
  projectSeq: number,
  work: { draft: DraftMail; envelope: DraftEnvelope | null },
): Promise<ShownDraft> {
  const task = { kind: "draft" as const, localUrl: localUrl(app.url), ...work };
  return run(app, projectSeq, "draft", { isUrgent: false, prepare: () => task });
}

/** Renders the request of a WEBHOOK step. */
export async function renderWebhook(
  app: App,
  projectSeq: number,
  templates: WebhookTemplates,
): Promise<WebhookResult> {
  if (isCheapWebhook(templates)) {
    const result = renderWebhookRequest(templates, compiledTemplates(app), LOOP_MS);
    if (result.ok || !result.isSpent) return result;
  }
  const task = { kind: "webhook" as const, templates };
  return (await run(app, projectSeq, "webhook", { isUrgent: true, prepare: () => task })).result;
}

/** Makes a document of a mail that is safe to show in a frame (render/preview-document.ts). */
export async function showDocument(
  app: App,
  projectSeq: number,
  shown: { html: string; images: readonly InlineImage[]; isDark: boolean },
): Promise<string> {
  const { html, images, isDark } = shown;
  if (html.length <= MAX_SMALL_HTML && images.length === 0) {
    return previewDocument(html, images, { isDark });
  }
  const task = { kind: "document" as const, ...shown };
  return (await run(app, projectSeq, "document", { isUrgent: false, prepare: () => task })).html;
}

/** Converts HTML to text. */
export async function readableText(app: App, projectSeq: number, html: string): Promise<string> {
  if (html.length <= MAX_SMALL_HTML) return textOfHtml(html);
  const task = { kind: "text" as const, html };
  return (await run(app, projectSeq, "text", { isUrgent: false, prepare: () => task })).text;
}

/**
 * Checks the structure, the links and the HTML of a message. It is read when a thread is free, so that
 * requests that wait hold no messages.
 */
export async function checkContent(
  app: App,
  projectSeq: number,
  read: () => Promise<CheckedMessage>,
): Promise<MessageFindings> {
  const prepare = async () => ({
    kind: "check" as const,
    message: await read(),
    localUrl: localUrl(app.url),
  });
  return (await run(app, projectSeq, "check", { isUrgent: false, prepare })).checks;
}

/** The address of a server that only this machine can reach, as in development; null for others. */
function localUrl(url: string): string | null {
  const host = parseUrl(url)?.hostname.replace(/^\[|\]$/g, "") ?? "";
  return isLoopbackHost(host) ? url : null;
}

/** The support of mail programs for the HTML of a message. */
export async function checkSupport(
  app: App,
  projectSeq: number,
  read: () => Promise<string>,
): Promise<HtmlSupport> {
  const prepare = async () => ({ kind: "support" as const, html: await read() });
  return (await run(app, projectSeq, "support", { isUrgent: false, prepare })).support;
}

function refusalOf({ reason, message: cause }: ThreadPoolError): AppError {
  const message = {
    full: "Too much mail of this project is rendered or checked at the same time.",
    late: "Rendering or checking this mail took too long.",
    failed: "The mail cannot be rendered or checked right now.",
    stopping: "The server stops.",
  }[reason];
  return new AppError(503, "SERVICE_UNAVAILABLE", message, {
    suggestion: "Repeat the request in a few seconds, with fewer at the same time.",
    headers: { "Retry-After": String(RETRY_SECONDS) },
    cause,
  });
}
