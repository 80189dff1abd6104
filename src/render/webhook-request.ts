/**
 * Renders the request of a WEBHOOK step: its URL, its headers and its body. The input is data alone, so
 * the same code runs on the event loop and in a thread.
 */

import { threadCpuMs } from "../lib/thread-cpu.ts";
import { buildUrl } from "./webhook-url.ts";
import type { TemplateCache } from "./template/cache.ts";
import { cheapTags } from "./template/cheap.ts";
import { RENDER_LIMIT_MS, TOO_SLOW } from "./template/limits.ts";
import { EXHAUSTED } from "./render-budget.ts";
import {
  render,
  renderJson,
  renderUrl,
  type Template,
  type TemplateKind,
  type Variables,
} from "./template/template.ts";

export type WebhookTemplates = {
  url: string;
  method: string;
  headers?: Readonly<Record<string, string>> | undefined;
  /** JSON whose texts are templates. */
  body?: unknown;
  /** Sent if there is no body. */
  defaultBody: unknown;
  variables: Variables;
  /** Names the step of the execution; the same in every attempt. */
  id: string;
};

type RenderedWebhook = { url: string; headers: Record<string, string>; body?: string };

/** `isSpent`: all of the time was used, so more of it could help. */
export type WebhookResult =
  { ok: true; request: RenderedWebhook } | { ok: false; reason: string; isSpent: boolean };

const NO_BODY = "The body cannot be rendered";

/** Most UTF-16 units that the texts may have together to be rendered on the event loop. */
const MAX_CHEAP_UNITS = 128 * 1024;

class TemplateError extends Error {}

type FilledJson = { text: string; only: { value: unknown } | null };
type Fill = { text: (source: string) => string; json: (source: string) => FilledJson };

/** Whether the request certainly takes a few milliseconds. */
export function isCheapWebhook({ url, headers = {}, body, variables }: WebhookTemplates): boolean {
  const sources = [url, ...Object.values(headers), ...textsIn(body)];
  let tags = 0;
  let units = 0;
  for (const source of sources) {
    const count = cheapTags(source);
    if (count === null) return false;
    tags += count;
    units += source.length;
  }
  return units + tags * JSON.stringify(variables).length <= MAX_CHEAP_UNITS;
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/**
 * Returns the request, or the reason why it cannot be made; all texts share one limit of time.
 * `webhook-id` and `Idempotency-Key` name the step, so that receivers can detect a retry.
 */
export function renderWebhookRequest(
  input: WebhookTemplates,
  templates: TemplateCache,
  limitMs = RENDER_LIMIT_MS,
): WebhookResult {
  const { variables, id } = input;
  let leftMs = limitMs;
  const compiled = (source: string, what: string, kind: TemplateKind): Template => {
    const made = templates.compile(source, kind);
    if (!made.ok) throw new TemplateError(`${what}: ${made.message}`);
    return made.template;
  };
  /** Renders within the time that is left. */
  const timed = <T>(
    what: string,
    run: (limitMs: number) => ({ ok: true } & T) | { ok: false; reason: string },
  ): T => {
    const beforeMs = threadCpuMs();
    const rendered = leftMs > 0 ? run(leftMs) : { ok: false as const, reason: EXHAUSTED };
    leftMs -= threadCpuMs() - beforeMs;
    if (!rendered.ok && rendered.reason === TOO_SLOW) leftMs = 0;
    if (!rendered.ok) throw new TemplateError(`${what}: ${rendered.reason}`);
    return rendered;
  };
  const fill = (source: string, what: string, kind: TemplateKind = "text"): string => {
    const template = compiled(source, what, kind);
    return timed(what, (ms) => render(template, variables, ms)).text;
  };
  const fillJson = (source: string): FilledJson => {
    const template = compiled(source, NO_BODY, "json");
    return timed(NO_BODY, (ms) => renderJson(template, variables, ms));
  };
  const fillUrl = (source: string, what: string): string => {
    const template = compiled(source, what, "url");
    const built = buildUrl(timed(what, (ms) => renderUrl(template, variables, ms)).parts);
    if (!built.ok) throw new TemplateError(built.reason);
    return built.url;
  };
  try {
    const body = bodyOf(input, { text: (source) => fill(source, NO_BODY), json: fillJson });
    const own = Object.entries(input.headers ?? {}).map(([name, value]) => [
      name.toLowerCase(),
      fill(value, `The header ${name} cannot be rendered`, "header"),
    ]);
    const request = {
      url: fillUrl(input.url, "The URL cannot be rendered"),
      headers: {
        "idempotency-key": id,
        ...(body === null ? {} : { "content-type": body.type }),
        ...Object.fromEntries(own),
        "webhook-id": id,
      },
      ...(body === null ? {} : { body: body.text }),
    };
    return { ok: true, request };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { ok: false, reason: error.message, isSpent: leftMs <= 0 };
  }
}

function bodyOf(
  { method, body, headers, defaultBody }: WebhookTemplates,
  fill: Fill,
): { text: string; type: string } | null {
  if (method === "GET") return null;
  if (body === undefined) {
    if (method === "DELETE") return null;
    return { text: JSON.stringify(defaultBody), type: "application/json" };
  }
  if (typeof body !== "string") {
    return { text: JSON.stringify(renderStrings(body, fill)), type: "application/json" };
  }
  return textBody(body, contentTypeIn(headers), fill);
}

/**
 * A body that is one string. It is filled as JSON if a header says that it is JSON, or if it begins
 * like an object or an array of JSON and the result is JSON.
 */
function textBody(
  source: string,
  contentType: string | null,
  fill: Fill,
): { text: string; type: string } {
  const isJson = contentType !== null && /[/+]json\b/i.test(contentType);
  if (isJson || (contentType === null && /^\s*(?:\{(?![{%])|\[)/.test(source))) {
    const { text, only } = fill.json(source);
    // A value that is a document of JSON as text is sent as that document.
    const document = typeof only?.value === "string" ? documentIn(only.value) : null;
    if (isJson || parsedJson(text) !== undefined) {
      return { text: document ?? text, type: "application/json" };
    }
  }
  const text = fill.text(source);
  const type = parsedJson(text) !== undefined ? "application/json" : "text/plain; charset=utf-8";
  return { text, type };
}

function contentTypeIn(headers: WebhookTemplates["headers"]): string | null {
  const found = Object.entries(headers ?? {}).find(
    ([name]) => name.toLowerCase() === "content-type",
  );
  return found?.[1] ?? null;
}

/** The text if it is an object or an array of JSON; otherwise null. */
function documentIn(text: string): string | null {
  const value = parsedJson(text);
  return typeof value === "object" && value !== null ? text : null;
}

/**
 * Renders every string in a JSON value. A string that is one output and nothing else becomes the value
 * of the output, with its type. The recursion is bounded: requests nest at most 100 levels.
 */
function renderStrings(value: unknown, fill: Fill): unknown {
  if (typeof value === "string") {
    const { only } = fill.json(value);
    return only === null || only.value === undefined ? fill.text(value) : only.value;
  }
  if (Array.isArray(value)) return value.map((item) => renderStrings(item, fill));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, renderStrings(item, fill)]),
  );
}

/** Returns undefined if the text is not JSON. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
