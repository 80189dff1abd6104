/** The API of a server under measurement, with the key of its project. */

import type { Static, TSchema } from "@sinclair/typebox";
import { parse, type Server } from "./children.ts";

export type Api = ReturnType<typeof createApi>;

export function createApi({ port }: Pick<Server, "port">, key: string) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };

  function ask(method: string, path: string, body?: unknown): Promise<Response> {
    return fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async function done(method: string, path: string, body?: unknown): Promise<string> {
    const response = await ask(method, path, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text;
  }

  return {
    ask,

    /** Throws where it is not answered with success. */
    do: async (method: string, path: string, body?: unknown): Promise<void> => {
      await done(method, path, body);
    },

    /** The answer, checked. */
    async read<T extends TSchema>(
      schema: T,
      method: string,
      path: string,
      body?: unknown,
    ): Promise<Static<T>> {
      return parse(schema, JSON.parse(await done(method, path, body)));
    },
  };
}
