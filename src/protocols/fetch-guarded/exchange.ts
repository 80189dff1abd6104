/** Sends one request to one address and reads a limited response. */

import { isIP } from "node:net";
import { FetchRefused } from "./refusal.ts";
import type { CheckedRequest } from "./request.ts";

export type GuardedResponse = {
  status: number;
  headers: Headers;
  /** The first 64 KiB, or as many as the request says, as received; nothing is decompressed. */
  body: Uint8Array;
  /** True if the body was longer. */
  isTruncated: boolean;
};

/**
 * Connects to exactly `address`. The Host header and the name in SNI and certificate come from the
 * URL. It never uses a proxy or a pooled connection and never follows a redirect.
 */
export async function exchangeHttp(
  { url, method, headers, body, maxBodyBytes }: CheckedRequest,
  address: string,
  { signal, ca }: { signal: AbortSignal; ca?: string | undefined },
): Promise<GuardedResponse> {
  const dialled = new URL(url);
  dialled.hostname = isIP(address) === 6 ? `[${address}]` : address;
  const sent = new Headers(headers);
  sent.set("host", url.host);
  const isNamed = isIP(url.hostname.replace(/^\[|\]$/g, "")) === 0;
  const ender = new AbortController();
  const response = await fetch(dialled, {
    method,
    headers: sent,
    body,
    redirect: "manual",
    keepalive: false,
    proxy: false,
    decompress: false,
    signal: AbortSignal.any([signal, ender.signal]),
    ...(url.protocol === "https:" && {
      protocol: "http1.1" as const,
      tls: {
        rejectUnauthorized: true,
        ...(isNamed && { serverName: url.hostname }),
        ...(ca !== undefined && { ca }),
      },
    }),
  });
  const read = await readBody(response, maxBodyBytes);
  ender.abort(); // Closes the connection; the rest of the body is not needed.
  return { status: response.status, headers: response.headers, ...read };
}

async function readBody({ body }: Response, maxBytes: number) {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) break;
  }
  const all = Buffer.concat(chunks);
  return { body: all.subarray(0, maxBytes), isTruncated: length > maxBytes };
}

/** Error codes if no connection was made; another address may be tried then. */
const UNCONNECTED = ["ECONNREFUSED", "ENETUNREACH", "EHOSTUNREACH", "EADDRNOTAVAIL"];

export function isUnconnected(error: unknown): boolean {
  return UNCONNECTED.includes(codeOf(error));
}

const TLS_CODE = /CERT|SSL|TLS|SIGNATURE|ISSUER|VERIFY/i;

/** Converts an error of the platform to the reason for the caller. */
export function explain(error: unknown, host: string): FetchRefused {
  if (error instanceof FetchRefused) return error;
  const code = codeOf(error);
  if (TLS_CODE.test(code)) {
    return new FetchRefused("tls", `${host}: no secure connection (${code})`, { cause: error });
  }
  const what = isUnconnected(error)
    ? `no connection (${code})`
    : `the connection ended before the response was complete (${code})`;
  return new FetchRefused("network", `${host}: ${what}`, { cause: error });
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "unknown";
}
