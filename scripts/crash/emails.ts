/** Reads lists of the API after the last kill. */

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { listAll } from "../../src/cli/import/http-client.ts";
import { parse } from "../bench/children.ts";

const POLL_MS = 100;

export type ApiClient = { url: string; key: string };

export async function get({ url, key }: ApiClient, path: string): Promise<Response> {
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
}

/** All items of a list of the API. */
export function listItems<T extends TSchema>(
  client: ApiClient,
  path: string,
  item: T,
): Promise<Static<T>[]> {
  return listAll({ get: async (page) => (await get(client, page)).json() }, path, item);
}

const Listed = Type.Object({ data: Type.Object({ total: Type.Integer() }) });

export async function countEmails(client: ApiClient, query: string): Promise<number> {
  const response = await get(client, `/emails${query}`);
  return parse(Listed, await response.json()).data.total;
}

/** Waits until no mail is queued or under way. */
export async function waitUntilDrained(client: ApiClient, limitMs: number): Promise<void> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const waiting = await countEmails(client, "?status=QUEUED");
    const underWay = await countEmails(client, "?status=SENDING");
    if (waiting + underWay === 0) return;
    if (performance.now() > deadline) {
      throw new Error(`${waiting} mails queued, ${underWay} under way after ${limitMs} ms`);
    }
    await Bun.sleep(POLL_MS);
  }
}
