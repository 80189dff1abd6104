/** Reads the config of a WEBHOOK. The URL, header values and strings in the body may hold Liquid. */

import type { FieldError } from "../../../lib/errors.ts";
import { isPublicAddress } from "../../../lib/ip-addresses.ts";
import { urlFault } from "../../../protocols/fetch-guarded/refusal.ts";
import { objectToTarget } from "../../../protocols/fetch-guarded/target.ts";
import { parseUrl } from "../../../lib/url.ts";
import {
  isHeaderText,
  LONGEST_HEADER_VALUE,
  MOST_HEADERS,
} from "../../../protocols/mime/headers.ts";
import { checkTemplate, sampleUrl } from "../../../render/template/template.ts";
import type { Step } from "./graph.ts";
import { readShape } from "./read-shape.ts";
import { WebhookConfig } from "./step-schemas.ts";

type Config = Extract<Step, { type: "WEBHOOK" }>["config"];

const LONGEST_BODY_BYTES = 64 * 1024;

/** RFC 9110 §5.6.2 token. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;

/** Headers that the HTTP client writes, or that describe the connection (RFC 9110 §7.6.1). */
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

/** The host that the URL names literally; null if Liquid decides it or the URL has none. */
function literalHost(url: string): string | null {
  const end = url.indexOf("{");
  const literal = end === -1 ? url : url.slice(0, end);
  // Before Liquid, the host is complete only if a delimiter follows it.
  if (end !== -1 && !/^https?:\/\/[^/?#\\]+[/?#]/i.test(literal)) return null;
  return parseUrl(literal)?.hostname ?? null;
}

/**
 * Whether the URL itself names a private address. The addresses of other hosts are looked up and
 * checked at each call; this check only reports the error earlier.
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
  const faults = hasLiquid ? checkTemplate(url, field, { kind: "url" }) : [];
  if (faults.length > 0) return faults;
  if (!isHeaderText(url)) return [badUrl(field)];
  if (hasLiquid) return templateErrors(url, field);
  return isHttpUrl(url) ? targetErrors(url, field) : [badUrl(field)];
}

/** The errors that a URL with Liquid has for every value of its outputs. */
function templateErrors(source: string, field: string): FieldError[] {
  if (!/^(?:https?:\/\/|\{[{%])/i.test(source)) return [badUrl(field)];
  const model = sampleUrl(source);
  if (isHttpUrl(model)) return targetErrors(model, field);
  // A raw output may hold scheme and host, and tags may choose them.
  return source.startsWith("{") || source.includes("{%") ? [] : targetErrors(model, field);
}

/** A scheme, port or user name that is refused when the URL is called. */
function targetErrors(url: string, field: string): FieldError[] {
  const refusal = objectToTarget(url, { allowPrivateAddresses: true });
  return refusal === null
    ? []
    : [{ field, message: urlFault(refusal.reason), code: "invalid_value" }];
}

function isHttpUrl(url: string): boolean {
  if (!/^https?:\/\//i.test(url) || /\s/.test(url)) return false;
  const parsed = parseUrl(url);
  return parsed !== null && parsed.username === "" && parsed.password === "";
}

function badUrl(field: string): FieldError {
  const message =
    "must be an absolute http or https URL without credentials; parts of it may be Liquid";
  return { field, message, code: "invalid_format" };
}

function headerErrors(headers: Readonly<Record<string, string>>, field: string): FieldError[] {
  const names = Object.keys(headers);
  if (names.length > MOST_HEADERS) {
    const message = `must have at most ${MOST_HEADERS} headers`;
    return [{ field, message, code: "too_big" }];
  }
  const seen = new Set<string>();
  return names.flatMap((name) => {
    const isDuplicate = seen.has(name.toLowerCase());
    seen.add(name.toLowerCase());
    const path = `${field}.${name}`;
    if (isDuplicate) {
      return {
        field: path,
        message: "is given twice",
        code: "invalid_value" as const,
      };
    }
    return [...nameErrors(name, path), ...valueErrors(headers[name] ?? "", path)].slice(0, 1);
  });
}

function nameErrors(name: string, field: string): FieldError[] {
  if (!HEADER_NAME.test(name)) {
    const message =
      "must have a name of 1 to 100 letters, digits and other characters of an HTTP token";
    return [{ field, message, code: "invalid_format" }];
  }
  if (!OWNED.test(name)) return [];
  return [{ field, message: "is a header that the service sets itself", code: "invalid_value" }];
}

/** An HTTP header value can hold only Latin-1 (RFC 9110 §5.5). */
function valueErrors(value: string, field: string): FieldError[] {
  if (!isHeaderText(value) || !/^[\t\x20-\xff]*$/.test(value)) {
    const message = "must be a single line of Latin-1 text without control characters";
    return [{ field, message, code: "invalid_format" }];
  }
  if (value.length > LONGEST_HEADER_VALUE) {
    const message = `must have at most ${LONGEST_HEADER_VALUE} octets`;
    return [{ field, message, code: "too_big" }];
  }
  return checkTemplate(value, field, { kind: "header" });
}

function bodyErrors(body: unknown, field: string): FieldError[] {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  if (Buffer.byteLength(text) > LONGEST_BODY_BYTES) {
    return [{ field, message: "must take at most 64 KiB", code: "too_big" }];
  }
  return liquidErrors(body, field);
}

/** The errors of all strings in the body. The recursion is bounded: requests nest at most 100 levels. */
function liquidErrors(value: unknown, field: string): FieldError[] {
  if (typeof value === "string") return checkTemplate(value, field, { kind: "text" });
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => liquidErrors(inner, `${field}.${name}`));
}
