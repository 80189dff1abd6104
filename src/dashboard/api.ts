/**
 * The client of the HTTP interface. Requests carry the session cookie, the project of the page and,
 * for POST, an Idempotency-Key. An error becomes an ApiError. The types of bodies are those of the
 * models of the server: `api.get<Static<typeof Email>>("/emails/…")`.
 */

import { noteServerTime } from "./server-clock.ts";

/** One faulty field of a request. `field` is a dotted path such as `to.1.email`. */
export type FieldError = { field: string; message: string; code: string };

/** The status of an ApiError when no response arrived. */
export const NO_RESPONSE = 0;
export const NOT_FOUND = 404;

type ErrorFields = {
  status: number;
  code: string;
  message: string;
  suggestion: string;
  requestId: string;
  errors: readonly FieldError[];
};

/** A refused request, or one without a response (status 0, code NO_RESPONSE). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly suggestion: string;
  readonly requestId: string;
  readonly errors: readonly FieldError[];

  constructor(fields: ErrorFields) {
    super(fields.message);
    this.status = fields.status;
    this.code = fields.code;
    this.suggestion = fields.suggestion;
    this.requestId = fields.requestId;
    this.errors = fields.errors;
  }
}

type QueryValue = string | number | boolean | null | undefined;
export type Query = Readonly<Record<string, QueryValue>>;

export type RequestOptions = {
  query?: Query;
  /** By default the project of the page; null for none. */
  project?: string | null;
  /** Repeats of a request with the same key return the first response. By default a new key. */
  idempotencyKey?: string;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
  /** The request goes on when its page is left, if its body is small enough for the browser. */
  keepalive?: boolean;
  /** Gets the status of a response that is no error, where it says more than the body. */
  onStatus?: (status: number) => void;
};

/** One page of a list. */
export type ListPage<T> = {
  items: T[];
  nextCursor: string | null;
  hasMore: boolean;
  total: number;
};

/** Functions that are called when a session ends, and when the connection is lost or is back. */
export type ApiEvents = {
  onSignedOut: () => void;
  /** The server refused something that the page offered. */
  onRightsChanged: () => void;
  /** Asks for the password again; false if the user declines. */
  confirm: () => Promise<boolean>;
  onConnection: (isConnected: boolean) => void;
};

let project: string | null = null;
let events: ApiEvents = {
  onSignedOut: () => undefined,
  onRightsChanged: () => undefined,
  confirm: () => Promise.resolve(false),
  onConnection: () => undefined,
};

/** Requests from now on are for this project. */
export function setProject(id: string | null): void {
  project = id;
}

export function setApiEvents(given: ApiEvents): void {
  events = given;
}

/** A random key. `crypto.randomUUID` does not exist on pages over plain HTTP. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The path with the query parameters that have a value. */
export function withQuery(path: string, query: Query = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === null || value === undefined || value === "" ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/** A URL for elements that cannot send headers, such as frames and downloads. */
export function projectUrl(path: string, query: Query = {}): string {
  return withQuery(path, { ...query, project });
}

/** Sends a request, and sends it again after the password was entered if that is required. */
async function respond(
  method: string,
  path: string,
  body: unknown,
  options: RequestOptions = {},
): Promise<Response> {
  try {
    return await respondOnce(method, path, body, options);
  } catch (error) {
    const isAsked = error instanceof ApiError && error.code === "CONFIRMATION_REQUIRED";
    if (!isAsked || !(await events.confirm())) throw error;
    return respondOnce(method, path, body, options);
  }
}

async function request<T>(
  method: string,
  path: string,
  body: unknown,
  options: RequestOptions = {},
): Promise<T> {
  const response = await respond(method, path, body, options);
  // A response without a body, such as 204, is an empty object.
  const filled = response.status === 204 ? new Response("{}") : response;
  const answer: T & { success?: boolean; data?: T } = await filled.json();
  // A contact is not in an envelope, and has data of its own.
  return answer.success === undefined ? answer : (answer.data ?? answer);
}

/**
 * Browsers refuse larger bodies with `keepalive`: 64 KiB for all requests under way. In UTF-16 units,
 * each of which may be three bytes.
 */
const MAX_KEPT_ALIVE = 20_000;

async function respondOnce(
  method: string,
  path: string,
  body: unknown,
  options: RequestOptions,
): Promise<Response> {
  const { query, idempotencyKey = newIdempotencyKey(), signal, keepalive = false } = options;
  const chosen = options.project === undefined ? project : options.project;
  const sent = body === undefined ? null : body instanceof FormData ? body : JSON.stringify(body);
  const response = await answerOf(withQuery(path, query), {
    method,
    signal: signal ?? null,
    credentials: "same-origin",
    headers: {
      Accept: "application/json",
      "X-Requested-With": "mailstead",
      ...(chosen === null ? {} : { "X-Project": chosen }),
      ...(method === "POST" ? { "Idempotency-Key": idempotencyKey } : {}),
      // A form brings its own type.
      ...(body === undefined || body instanceof FormData
        ? {}
        : { "Content-Type": "application/json" }),
      ...options.headers,
    },
    body: sent,
    keepalive: keepalive && typeof sent === "string" && sent.length < MAX_KEPT_ALIVE,
  });
  if (!response.ok) throw await errorOf(response);
  options.onStatus?.(response.status);
  return response;
}

/** Resolves to the response, or throws an ApiError with the status NO_RESPONSE. */
async function answerOf(url: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, init);
    events.onConnection(true);
    noteServerTime(response.headers.get("date"));
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    events.onConnection(false);
    throw new ApiError({
      status: NO_RESPONSE,
      code: "NO_RESPONSE",
      message: "The server cannot be reached.",
      suggestion: "Check your connection, then try again. Nothing you typed is lost.",
      requestId: "",
      errors: [],
    });
  }
}

type ErrorBody = {
  error?: Partial<Omit<ErrorFields, "status">>;
};

/** The code of an answer to a request without a session. A wrong password has another one. */
export const SESSION_MISSING = "MISSING_AUTH";

/** Codes of refusals that the page did not expect: the role or the project changed meanwhile. */
const RIGHTS_CHANGED = new Set(["FORBIDDEN", "PROJECT_DISABLED"]);

async function errorOf(response: Response): Promise<ApiError> {
  const body: ErrorBody = await jsonOf(response);
  const error = body.error ?? {};
  if (error.code === SESSION_MISSING) events.onSignedOut();
  if (error.code !== undefined && RIGHTS_CHANGED.has(error.code)) events.onRightsChanged();
  return new ApiError({
    status: response.status,
    code: error.code ?? "ERROR",
    message: error.message ?? `The server answered with status ${response.status}.`,
    suggestion: error.suggestion ?? "",
    requestId: error.requestId ?? response.headers.get("x-request-id") ?? "",
    errors: error.errors ?? [],
  });
}

/** A proxy in front of the server may answer with a body that is not JSON. */
async function jsonOf(response: Response): Promise<ErrorBody> {
  const text = await response.text();
  try {
    return await new Response(text).json();
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

export const api = {
  /** A response that is no JSON, such as an exported file, for its reader to read. */
  file: (path: string, options?: RequestOptions) => respond("GET", path, undefined, options),
  get: <T>(path: string, options?: RequestOptions) => request<T>("GET", path, undefined, options),
  post: <T>(path: string, body?: unknown, options?: RequestOptions) =>
    request<T>("POST", path, body ?? {}, options),
  upload: <T>(path: string, form: FormData, options?: RequestOptions) =>
    request<T>("POST", path, form, options),
  put: <T>(path: string, body?: unknown, options?: RequestOptions) =>
    request<T>("PUT", path, body ?? {}, options),
  patch: <T>(path: string, body?: unknown, options?: RequestOptions) =>
    request<T>("PATCH", path, body ?? {}, options),
  delete: <T = object>(path: string, options: RequestOptions & { body?: object } = {}) =>
    request<T>("DELETE", path, options.body, options),
};
