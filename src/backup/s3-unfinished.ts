/**
 * Removes uploads in parts that a killed process has left in a bucket. They are not listed as objects,
 * but they are stored and paid for. The client of the runtime has no requests for them, so these two
 * are signed here (AWS Signature Version 4).
 */

import { createHash, createHmac } from "node:crypto";
import { BackupError } from "./refusal.ts";

type Service = {
  endpoint: string;
  bucket: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  now: () => number;
};

const MAX_UPLOADS = 1_000;
const MAX_BODY_BYTES = 1024 * 1024;
const REQUEST_LIMIT_MS = 60_000;
/** Some services have no such list, and some keys may not read it: then a rule of the bucket must do it. */
const IMPOSSIBLE: readonly number[] = [403, 405, 501];

export async function removeUnfinishedUploads(service: Service, prefix: string): Promise<void> {
  const query = { "max-uploads": String(MAX_UPLOADS), prefix, uploads: "" };
  const listed = await request(service, { method: "GET", path: "", query });
  if (IMPOSSIBLE.includes(listed.status)) return;
  requireOk(service, listed.status, listed.text);
  for (const { key, uploadId } of uploadsIn(listed.text)) {
    if (!key.startsWith(prefix)) continue;
    const { status, text } = await request(service, {
      method: "DELETE",
      path: `/${key}`,
      query: { uploadId },
    });
    // 404: it has ended meanwhile.
    if (status !== 404) requireOk(service, status, text);
  }
}

function requireOk({ endpoint }: Service, status: number, text: string): void {
  if (status >= 200 && status < 300) return;
  const code = between(text, "<Code>", "</Code>") ?? "no code";
  throw new BackupError(`${endpoint} answered ${status} (${code}) to a question about uploads.`);
}

function uploadsIn(xml: string): { key: string; uploadId: string }[] {
  return xml
    .split("<Upload>")
    .slice(1, MAX_UPLOADS + 1)
    .flatMap((part) => {
      const [key, uploadId] = [
        between(part, "<Key>", "</Key>"),
        between(part, "<UploadId>", "</UploadId>"),
      ];
      // Our keys have no characters that XML escapes.
      return key === null || uploadId === null ? [] : [{ key, uploadId: decode(uploadId) }];
    });
}

function between(text: string, start: string, end: string): string | null {
  const from = text.indexOf(start);
  const to = from === -1 ? -1 : text.indexOf(end, from);
  return to === -1 ? null : text.slice(from + start.length, to);
}

const decode = (text: string): string =>
  text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");

type Asked = { method: string; path: string; query: Record<string, string> };

async function request(
  service: Service,
  { method, path, query }: Asked,
): Promise<{ status: number; text: string }> {
  const base = new URL(service.endpoint);
  const root = base.pathname.replace(/\/$/, "");
  const encodedPath = `${root}/${service.bucket}${path.split("/").map(encode).join("/")}`;
  const encodedQuery = Object.entries(query)
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted()
    .join("&");
  const headers = signedHeaders(service, base.host, [method, encodedPath, encodedQuery]);
  const response = await fetch(`${base.origin}${encodedPath}?${encodedQuery}`, {
    method,
    headers,
    redirect: "manual",
    signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
  });
  return { status: response.status, text: await readText(response) };
}

async function readText({ body }: Response): Promise<string> {
  if (body === null) return "";
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.byteLength;
    if (bytes > MAX_BODY_BYTES) throw new BackupError("The list of uploads is too long.");
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

const SIGNED = "host;x-amz-content-sha256;x-amz-date";

function signedHeaders(
  { region, accessKeyId, secretAccessKey, now }: Service,
  host: string,
  asked: readonly string[],
): Record<string, string> {
  const time = new Date(now()).toISOString().replace(/[-:]|\.\d+/g, "");
  const day = time.slice(0, 8);
  const bodyDigest = sha256("");
  const canonical = [
    ...asked,
    `host:${host}`,
    `x-amz-content-sha256:${bodyDigest}`,
    `x-amz-date:${time}`,
    "",
    SIGNED,
    bodyDigest,
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
  const key = [day, region, "s3", "aws4_request"].reduce<string | Buffer>(
    (secret, part) => hmac(secret, part),
    `AWS4${secretAccessKey}`,
  );
  const signature = hmac(key, text).toString("hex");
  return {
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${SIGNED}, Signature=${signature}`,
    "x-amz-content-sha256": bodyDigest,
    "x-amz-date": time,
  };
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac("sha256", key).update(text).digest();

/** Encodes all characters but the unreserved ones of RFC 3986. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
