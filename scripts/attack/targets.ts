/** Finds the routes with a request body in `/openapi.json`. */

import { isRecord } from "../../src/http/validation.ts";

export type Target = {
  method: string;
  path: string;
  /** `application/json` or `multipart/form-data`. */
  mediaType: string;
  maxBytes: number;
  maxValues: number;
  /** Names of the fields that the schema describes. */
  members: string[];
  takesPublicKey: boolean;
};

/** Limits of a body whose schema does not name them. */
const LARGEST = { bytes: 20 * 1024 * 1024, values: 200_000 };

export async function findTargets(url: string): Promise<Target[]> {
  const document: unknown = await (await fetch(`${url}/openapi.json`)).json();
  return entriesOf(document, "paths").flatMap(([path, item]) =>
    entriesOf(item).flatMap(([method, operation]) => targetOf(method, path, operation)),
  );
}

function targetOf(method: string, path: string, operation: unknown): Target[] {
  const requestBody = isRecord(operation) ? operation["requestBody"] : undefined;
  const [content] = entriesOf(requestBody, "content");
  if (!isRecord(operation) || content === undefined) return [];
  const [mediaType, media] = content;
  const schema = isRecord(media) ? media["schema"] : undefined;
  return [
    {
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, "unknown"),
      mediaType,
      maxBytes: numberIn(schema, "x-max-body-bytes") ?? LARGEST.bytes,
      maxValues: numberIn(schema, "x-max-json-values") ?? LARGEST.values,
      members: entriesOf(schema, "properties").map(([name]) => name),
      takesPublicKey: JSON.stringify(operation["security"] ?? null).includes("publicKey"),
    },
  ];
}

function entriesOf(value: unknown, name?: string): [string, unknown][] {
  const inner = name === undefined ? value : isRecord(value) ? value[name] : undefined;
  return isRecord(inner) ? Object.entries(inner) : [];
}

function numberIn(value: unknown, name: string): number | null {
  const found = isRecord(value) ? value[name] : undefined;
  return typeof found === "number" ? found : null;
}
