/**
 * A server that speaks the part of S3 that backups use, with objects in memory. It computes the
 * signature of each request itself (AWS Signature Version 4) and refuses wrong ones, as S3 does.
 */

import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

export type Asked = { method: string; key: string; query: URLSearchParams };

/** A fault instead of the answer: the connection is cut, no answer comes, or an error. */
export type Fault = "cut" | "hang" | { status: number; code: string };

type Upload = { key: string; parts: Map<number, Buffer> };

const BUCKET = "backups";
const KEY = { id: "AKTEST", secret: "a secret of the tests" };

export type S3Server = Awaited<ReturnType<typeof startS3Server>>;

export async function startS3Server() {
  const objects = new Map<string, Buffer>();
  const uploads = new Map<string, Upload>();
  const asked: string[] = [];
  let faultOf: (request: Asked) => Fault | null = () => null;

  const server = createServer((request, response) => {
    void answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", `http://127.0.0.1:${port}`);
    const [, bucket = "", ...rest] = url.pathname.split("/");
    const question = {
      method: request.method ?? "",
      key: decodeURIComponent(rest.join("/")),
      query: url.searchParams,
    };
    const { method, key, query } = question;
    asked.push(`${method} ${key}${query.has("partNumber") ? " part" : ""}`);
    const fault = faultOf(question);
    if (fault === "hang") return;
    if (fault === "cut" && method !== "GET") {
      request.once("data", () => request.socket.destroy());
      return;
    }
    const body = Buffer.concat(await Array.fromAsync(request));
    const known = request.headers.authorization?.includes(`Credential=${KEY.id}/`) === true;
    if (typeof fault === "object" && fault !== null) fail(response, fault.status, fault.code);
    else if (!known) fail(response, 403, "InvalidAccessKeyId");
    else if (!isSigned(request, url)) fail(response, 403, "SignatureDoesNotMatch");
    else if (bucket !== BUCKET) fail(response, 404, "NoSuchBucket");
    else reply(response, { ...question, body, isCut: fault === "cut" });
  }

  type Request = Asked & { body: Buffer; isCut: boolean };

  function reply(response: ServerResponse, request: Request): void {
    const { method, key, query, body, isCut } = request;
    const uploadId = query.get("uploadId");
    if (method === "GET" && key === "") {
      send(response, query.has("uploads") ? uploadList(query) : objectList(query));
    } else if (method === "GET") {
      const found = objects.get(key);
      if (found === undefined) return fail(response, 404, "NoSuchKey");
      response.writeHead(200, { "content-length": found.length });
      if (!isCut) response.end(found);
      else response.write(found.subarray(0, found.length >> 1), () => response.destroy());
    } else if (method === "POST" && query.has("uploads")) {
      const id = `upload-${uploads.size + 1}-${Math.random()}`;
      uploads.set(id, { key, parts: new Map() });
      send(response, `<UploadId>${id}</UploadId>`, "InitiateMultipartUploadResult");
    } else if (method === "PUT" && uploadId !== null) {
      uploads.get(uploadId)?.parts.set(Number(query.get("partNumber")), body);
      response.writeHead(200, { etag: `"${md5(body)}"` }).end();
    } else if (method === "POST" && uploadId !== null) {
      const parts = [...(uploads.get(uploadId)?.parts ?? [])].toSorted(([a], [b]) => a - b);
      objects.set(key, Buffer.concat(parts.map(([, part]) => part)));
      uploads.delete(uploadId);
      send(response, `<Key>${key}</Key><ETag>"x"</ETag>`, "CompleteMultipartUploadResult");
    } else if (method === "DELETE") {
      if (uploadId === null) objects.delete(key);
      else uploads.delete(uploadId);
      response.writeHead(204).end();
    } else if (method === "PUT") {
      objects.set(key, body);
      response.writeHead(200, { etag: `"${md5(body)}"` }).end();
    } else {
      fail(response, 405, "MethodNotAllowed");
    }
  }

  /** A page has two objects, so that each list has several. */
  function objectList(query: URLSearchParams): string {
    const after = query.get("continuation-token") ?? "";
    const all = [...objects.keys()]
      .filter((key) => key.startsWith(query.get("prefix") ?? "") && key > after)
      .toSorted();
    const page = all.slice(0, 2);
    const next = all.length > page.length ? page.at(-1) : undefined;
    const contents = page.map(
      (key) =>
        `<Contents><Key>${key}</Key><Size>${objects.get(key)?.length ?? 0}</Size></Contents>`,
    );
    const token =
      next === undefined ? "" : `<NextContinuationToken>${next}</NextContinuationToken>`;
    return `<ListBucketResult><Name>${BUCKET}</Name><IsTruncated>${next !== undefined}</IsTruncated>${token}${contents.join("")}</ListBucketResult>`;
  }

  function uploadList(query: URLSearchParams): string {
    const found = [...uploads].filter(([, { key }]) => key.startsWith(query.get("prefix") ?? ""));
    const listed = found.map(
      ([id, { key }]) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`,
    );
    return `<ListMultipartUploadsResult>${listed.join("")}</ListMultipartUploadsResult>`;
  }

  return {
    objects,
    uploads,
    port,
    service: {
      endpoint: `http://127.0.0.1:${port}`,
      bucket: BUCKET,
      accessKeyId: KEY.id,
      secretAccessKey: KEY.secret,
      unfinished: async () => [...uploads.keys()],
    },
    /** The settings of the server, as variables. */
    env: {
      MAILSTEAD_S3_ENDPOINT: `http://127.0.0.1:${port}`,
      MAILSTEAD_S3_REGION: "eu-central-1",
      MAILSTEAD_S3_ACCESS_KEY_ID: KEY.id,
      MAILSTEAD_S3_SECRET_ACCESS_KEY: KEY.secret,
    },
    /** The requests since the last call, in order. */
    takeAsked: () => asked.splice(0),
    setFault: (find: typeof faultOf) => (faultOf = find),
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function send(response: ServerResponse, content: string, name?: string): void {
  const text = name === undefined ? content : `<${name}>${content}</${name}>`;
  response.writeHead(200, { "content-type": "application/xml" });
  response.end(`<?xml version="1.0" encoding="UTF-8"?>${text}`);
}

function fail(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { "content-type": "application/xml" });
  response.end(`<Error><Code>${code}</Code><Message>It was refused.</Message></Error>`);
}

const md5 = (bytes: Buffer): string => createHash("md5").update(bytes).digest("hex");
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac("sha256", key).update(text).digest();

const FIELDS =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;

function isSigned({ method = "", headers }: IncomingMessage, url: URL): boolean {
  const [, , scope = "", names = "", signature] = FIELDS.exec(headers.authorization ?? "") ?? [];
  const query = [...url.searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted()
    .join("&");
  const signed = names.split(";").map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const body = String(headers["x-amz-content-sha256"]);
  const canonical = [method, url.pathname, query, signed.join(""), names, body].join("\n");
  const time = String(headers["x-amz-date"]);
  const text = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
  const key = scope
    .split("/")
    .reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${KEY.secret}`);
  return hmac(key, text).toString("hex") === signature;
}

const encode = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
