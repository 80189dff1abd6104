/** Reads all records of a project over the API, for comparison with stored answers. */

import type { TestResponse } from "./app.ts";
import { listAt, stringAt, valueAt } from "./json.ts";

/** Sends a GET request with the secret key of the project. */
export type Get = (path: string) => Promise<TestResponse>;

/** The answer to each path: a record, or all records of a list. */
export type Answers = Record<string, unknown>;

/** Lists with what can be read of each of their records: `/…` is a list, `=…` a single answer. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  "/contacts": ["=", "/activity"],
  "/emails": ["="],
  "/events": [],
  "/templates": ["="],
  "/segments": ["=", "/contacts"],
  "/campaigns": ["=", "=/stats", "/recipients"],
  "/workflows": ["=", "/executions"],
  "/webhooks": ["=", "/deliveries"],
  "/domains": ["="],
  "/suppressions": [],
};

const EXECUTIONS = /^\/workflows\/[^/]+\/executions$/;

/** Reads every list, every record of it and the lists below the record. */
export async function readRecords(get: Get): Promise<Answers> {
  const answers: Answers = {};
  for (const [list, parts] of Object.entries(LISTS)) {
    const records = await readList(get, list);
    answers[list] = records;
    for (const record of parts.length === 0 ? [] : records) {
      const path = `${list}/${stringAt(record, "id")}`;
      for (const part of parts) {
        if (part.startsWith("="))
          answers[path + part.slice(1)] = await read(get, path + part.slice(1));
        else answers[path + part] = await readList(get, path + part);
      }
    }
  }
  for (const [path, records] of Object.entries(answers)) {
    if (!EXECUTIONS.test(path) || !Array.isArray(records)) continue;
    for (const execution of records) {
      const one = `${path}/${stringAt(execution, "id")}`;
      answers[one] = await read(get, one);
    }
  }
  return answers;
}

/** Reads a stored path again: a list if its stored answer is one. */
export function readAgain(get: Get, path: string, stored: unknown): Promise<unknown> {
  return Array.isArray(stored) ? readList(get, path) : read(get, path);
}

async function read(get: Get, path: string): Promise<unknown> {
  const answer = await get(path);
  if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status}`);
  return answer.body;
}

/** Reads all pages of a list. */
async function readList(get: Get, path: string): Promise<unknown[]> {
  const records: unknown[] = [];
  for (let cursor = ""; ;) {
    const body = await read(get, `${path}?limit=100${cursor}`);
    // The list of contacts has no envelope.
    const page = valueAt(body, "data") ?? body;
    records.push(...listAt(page, "items"));
    const next = valueAt(page, "nextCursor");
    if (typeof next !== "string") return records;
    cursor = `&cursor=${encodeURIComponent(next)}`;
  }
}
