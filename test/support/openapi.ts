/** The OpenAPI document of an application that has served nothing else, made once in a process. */

import { type TestResponse, testApp } from "./app.ts";

let document: Promise<TestResponse> | null = null;

export function openApiDocument(): Promise<TestResponse> {
  document ??= read();
  return document;
}

async function read(): Promise<TestResponse> {
  const t = await testApp();
  const answer = await t.call("GET", "/openapi.json", undefined, { key: null });
  await t.close();
  return answer;
}
