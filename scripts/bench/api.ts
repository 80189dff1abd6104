/** A client for the HTTP API of the measured server, with the key of its project. */

import type { Static, TSchema } from "@sinclair/typebox";
import { parse, type Server } from "./children.ts";

export type Api = ReturnType<typeof createApi>;

export function createApi({ port }: Pick<Server, "port">, key: string) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };

  function request(method: string, path: string, body?: unknown): Promise<Response> {
    return fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async function requestText(method: string, path: string, body?: unknown): Promise<string> {
    const response = await request(method, path, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text;
  }

  return {
    request,

    /** Sends a request; throws unless the response is a success. */
    send: async (method: string, path: string, body?: unknown): Promise<void> => {
      await requestText(method, path, body);
    },

    /** Sends a request and returns the body of the response, validated against the schema. */
    async read<T extends TSchema>(
      schema: T,
      method: string,
      path: string,
      body?: unknown,
    ): Promise<Static<T>> {
      return parse(schema, JSON.parse(await requestText(method, path, body)));
    },
  };
}
