/** Reads the config of a WEBHOOK. URL, header values and texts in the body may hold Liquid. */

import type { FieldError } from "../../lib/errors.ts";
import { isPublicAddress } from "../../lib/addresses.ts";
import { isHeaderText, LONGEST_HEADER_VALUE, MOST_HEADERS } from "../../mail/headers.ts";
import { checkTemplate } from "../../mail/template.ts";
import type { Step } from "./graph.ts";
import { readShape } from "./read-shape.ts";
import { WebhookConfig } from "./step-schemas.ts";

type Config = Extract<Step, { type: "WEBHOOK" }>["config"];

const LONGEST_BODY_BYTES = 64 * 1024;

/** RFC 9110 §5.6.2 token. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;

/** Written by the HTTP client itself, or about the connection (RFC 9110 §7.6.1). */
const OWNED =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|proxy-.*|webhook-(?:id|timestamp|signature))$/i;

export function readWebhook(given: unknown, at: string, errors: FieldError[]): Config | null {
  if (!readShape(WebhookConfig, given, at, errors)) return null;
  const { url, method, body = null } = given;
  const headers = given.headers ?? null;
  const found = [
    ...urlErrors(url, `${at}.url`),
    ...(headers === null ? [] : headerErrors(headers, `${at}.headers`)),
    ...(body === null ? [] : bodyErrors(body, `${at}.body`)),
  ];
  errors.push(...found);
  if (found.length > 0) return null;
  return {
    url,
    method,
    ...(headers === null ? {} : { headers }),
    ...(body === null ? {} : { body }),
  };
}

/** The host that is written out in the URL; null where Liquid decides it, or there is none. */
function literalHost(url: string): string | null {
  const end = url.indexOf("{");
  const literal = end === -1 ? url : url.slice(0, end);
  // Up to Liquid, a host is whole only if something ended it.
  if (end !== -1 && !/^https?:\/\/[^/?#\\]+[/?#]/i.test(literal)) return null;
  return URL.canParse(literal) ? new URL(literal).hostname : null;
}

/**
 * Whether the URL names a host of its own network outright. Names are looked up and judged when
 * they are dialled; this only tells early.
 */
export function isPrivateTarget(url: string): boolean {
  const host = literalHost(url)?.replace(/^\[|\]$/g, "") ?? null;
  if (host === null) return false;
  if (/(?:^|\.)localhost\.?$/i.test(host)) return true; // RFC 6761 §6.3
  const isAddress = host.includes(":") || /^\d+\.\d+\.\d+\.\d+$/.test(host);
  return isAddress && !isPublicAddress(host);
}

function urlErrors(url: string, field: string): FieldError[] {
  const hasLiquid = url.includes("{{") || url.includes("{%");
  const faults = hasLiquid ? checkTemplate(url, field, "text") : [];
  if (faults.length > 0) return faults;
  if (!isHeaderText(url)) return [badUrl(field)];
  if (!hasLiquid) return isHttpUrl(url) ? [] : [badUrl(field)];
  return /^(?:https?:\/\/|\{[{%])/i.test(url) ? [] : [badUrl(field)];
}

function isHttpUrl(url: string): boolean {
  if (!/^https?:\/\//i.test(url) || /\s/.test(url) || !URL.canParse(url)) return false;
  const { username, password } = new URL(url);
  return username === "" && password === "";
}

function badUrl(field: string): FieldError {
  const message =
    "Expected an absolute http or https URL without credentials; parts of it may be Liquid.";
  return { field, message, code: "invalid_format" };
}

function headerErrors(headers: Readonly<Record<string, string>>, field: string): FieldError[] {
  const names = Object.keys(headers);
  if (names.length > MOST_HEADERS) {
    const message = `At most ${MOST_HEADERS} headers are allowed.`;
    return [{ field, message, code: "too_big" }];
  }
  const seen = new Set<string>();
  return names.flatMap((name) => {
    const isTwin = seen.has(name.toLowerCase());
    seen.add(name.toLowerCase());
    const place = `${field}.${name}`;
    if (isTwin) {
      return {
        field: place,
        message: "This header is given twice.",
        code: "invalid_value" as const,
      };
    }
    return [...nameErrors(name, place), ...valueErrors(headers[name] ?? "", place)].slice(0, 1);
  });
}

function nameErrors(name: string, field: string): FieldError[] {
  if (!HEADER_NAME.test(name)) {
    const message = "A header name has 1 to 100 letters, digits or the signs of an HTTP token.";
    return [{ field, message, code: "invalid_format" }];
  }
  if (!OWNED.test(name)) return [];
  return [{ field, message: "This header is set by the service.", code: "invalid_value" }];
}

/** Latin-1 at most: that is all that can be written into an HTTP header. */
function valueErrors(value: string, field: string): FieldError[] {
  if (!isHeaderText(value) || !/^[\t\x20-\xff]*$/.test(value)) {
    const message =
      "A header value may hold Latin-1 text without line breaks or control characters.";
    return [{ field, message, code: "invalid_format" }];
  }
  if (value.length > LONGEST_HEADER_VALUE) {
    const message = `A header value has at most ${LONGEST_HEADER_VALUE} octets.`;
    return [{ field, message, code: "too_big" }];
  }
  return checkTemplate(value, field, "text");
}

function bodyErrors(body: unknown, field: string): FieldError[] {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  if (Buffer.byteLength(text) > LONGEST_BODY_BYTES) {
    return [{ field, message: "A webhook's body may take 64 KiB.", code: "too_big" }];
  }
  return liquidErrors(body, field);
}

/** Requests nest at most 100 levels deep. */
function liquidErrors(value: unknown, field: string): FieldError[] {
  if (typeof value === "string") return checkTemplate(value, field, "text");
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => liquidErrors(inner, `${field}.${name}`));
}
