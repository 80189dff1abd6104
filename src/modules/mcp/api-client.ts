/**
 * Calls operations of the HTTP interface for the tools of MCP. So a tool may do what its key may do,
 * and is limited, checked and audited like any other client.
 */

import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { isRecord } from "../../http/validation.ts";
import { inSentences } from "../../lib/errors.ts";

type ApiInit = {
  method: string;
  headers: Readonly<Record<string, string>>;
  body: string | null;
  signal: AbortSignal;
};
/** Sends a request to a path of the server, which begins with a slash. */
export type SendToApi = (path: string, init: ApiInit) => Promise<Response>;

type QueryValues = Readonly<Record<string, string | number | boolean | undefined>>;

export type ApiClient = ReturnType<typeof createApiClient>;

/** A request that the server refused, or that the tool cannot make. The message is for the caller. */
export class ToolRefusal extends Error {}

/** Requests end with the signal. */
export function createApiClient(send: SendToApi, signal: AbortSignal) {
  async function call(
    method: string,
    path: string,
    { body, headers = {} }: { body?: unknown; headers?: Readonly<Record<string, string>> } = {},
  ): Promise<Response> {
    const hasBody = body !== undefined;
    const response = await send(path, {
      method,
      headers: { ...headers, ...(hasBody ? { "content-type": "application/json" } : {}) },
      body: hasBody ? JSON.stringify(body) : null,
      signal,
    });
    if (!response.ok) throw new ToolRefusal(refusalText(response.status, await response.text()));
    return response;
  }

  return {
    /** The `data` of an answer, or all of an answer without an envelope. */
    get: async (path: string, query: QueryValues = {}): Promise<unknown> =>
      dataOf(await (await call("GET", path + queryText(query))).json()),
    getText: async (path: string): Promise<string> => (await call("GET", path)).text(),
    post: async (
      path: string,
      body?: unknown,
      headers: Readonly<Record<string, string>> = {},
    ): Promise<unknown> => dataOf(await (await call("POST", path, { body, headers })).json()),
    async remove(path: string): Promise<void> {
      await call("DELETE", path);
    },
  };
}

/** A path whose values are percent-encoded, each as one segment. */
export function apiPath(strings: TemplateStringsArray, ...values: readonly string[]): string {
  return String.raw({ raw: strings }, ...values.map(segmentOf));
}

function segmentOf(value: string): string {
  // A URL has no segments of dots, also encoded ones: they would lead to another path.
  if (/^\.{0,2}$/.test(value)) throw new ToolRefusal(`"${value}" is no id or name.`);
  return encodeURIComponent(value);
}

function queryText(query: QueryValues): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] satisfies [string, string]],
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
}

function dataOf(body: unknown): unknown {
  return isRecord(body) && body["success"] === true && "data" in body ? body["data"] : body;
}

const Refusal = Type.Object({
  error: Type.Object({
    code: Type.String(),
    message: Type.String(),
    suggestion: Type.Optional(Type.String()),
    errors: Type.Optional(
      Type.Array(Type.Object({ field: Type.String(), message: Type.String() })),
    ),
  }),
});

function refusalText(status: number, text: string): string {
  const body = parseJson(text);
  if (!Value.Check(Refusal, body)) return `The server answered with the status ${status}.`;
  const { code, message, suggestion = "", errors = [] } = body.error;
  const others = errors.slice(1).map(({ field, message: fault }) => `${field}: ${fault}.`);
  return inSentences(`${code}: ${message}`, ...others, suggestion);
}

/** Undefined for a text that is not JSON: a proxy before the server may have answered. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
