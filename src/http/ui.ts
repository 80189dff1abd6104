/**
 * Serves the dashboard: the page for `/app` and every path below it, and its files below
 * `/app/assets/`. `scripts/ui.ts` makes the files, compressed by Brotli and gzip. The executable
 * contains them; from source they are read from `dist/ui`.
 *
 * The page has a Content-Security-Policy without inline scripts and with a new nonce for styles at
 * each request. The names of the files contain a digest of their content, so browsers keep them.
 */

import { peerOf, type RequestServer } from "./incoming.ts";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Elysia } from "elysia";
import { AppError } from "../lib/errors.ts";
import { acceptsEncoding } from "./accept-encoding.ts";
import { undocumented } from "./documented.ts";
import type { SignInPath } from "./sign-in-path.ts";

const FOLDER = join(import.meta.dir, "../../dist/ui");
const PAGE = "index.html";
/** Stands in the page where the nonce of a response goes. */
const NONCE_MARK = "__NONCE__";
const NONCE_BYTES = 18;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  png: "image/png",
  svg: "image/svg+xml",
  webmanifest: "application/manifest+json",
  woff2: "font/woff2",
};

const FILE_NAME = /^[\w-]{1,100}\.(\w{1,20})$/;

const hidden = { detail: undocumented("ANYONE") };

/** Finds a compressed file of the dashboard, such as `app-1a2b3c.js.br`; null if there is none. */
type FindFile = (name: string) => Promise<Blob | null>;

/** Pages before the sign-in; a user who has signed out sees the first of them. */
const ENTRY_PAGE = /^(?:login|setup|link|reset|invite|welcome)(?:\/|$)/;

export function uiRoutes(deps: { signInPath: SignInPath; find?: FindFile }) {
  const { signInPath, find = defaultFiles() } = deps;

  const redirect = (Location: string) =>
    new Response(null, { status: 302, headers: { Location, "Cache-Control": "no-store" } });

  /** Where the request for a page below /app is sent to sign in; null if it gets the page. */
  function signIn({ request, server }: Asked, path: string): Promise<string | null> {
    const { search } = new URL(request.url);
    return signInPath(request, peerOf({ request, server }), `/${path}${search}`);
  }

  return new Elysia({ name: "ui-routes" })
    .get("/", async (asked) => redirect((await signIn(asked, "")) ?? "/app"), hidden)
    .get(
      "/app/assets/:file",
      ({ params, headers }) => asset(find, params.file, headers["accept-encoding"] ?? ""),
      hidden,
    )
    .get(
      "/app",
      async (asked) => {
        const path = await signIn(asked, "");
        return path === null ? page(find, asked.headers) : redirect(path);
      },
      hidden,
    )
    .get(
      "/app/*",
      async (asked) => {
        const name = asked.params["*"];
        // These are not pages: an unknown path gets the usual error.
        if (/^(?:api|assets)(?:\/|$)/.test(name)) throw noRoute();
        const path = ENTRY_PAGE.test(name) ? null : await signIn(asked, name);
        return path === null ? page(find, asked.headers) : redirect(path);
      },
      hidden,
    );
}

/** The request as Elysia passes it. */
type Asked = {
  request: Request;
  server: RequestServer | null;
};

/**
 * Whether the browser trusts the origin: it is https or the own machine. Browsers send Sec-Fetch-Site
 * to such origins only; a proxy in front of the server may remove it.
 */
function isTrustworthy(headers: Readonly<Record<string, string | undefined>>): boolean {
  return headers["sec-fetch-site"] !== undefined || headers["x-forwarded-proto"] === "https";
}

async function page(
  find: FindFile,
  requestHeaders: Readonly<Record<string, string | undefined>>,
): Promise<Response> {
  const file = await find(`${PAGE}.gz`);
  const html = file === null ? MISSING : await textOf(file);
  const nonce = randomBytes(NONCE_BYTES).toString("base64");
  return new Response(html.replace(NONCE_MARK, nonce), {
    status: file === null ? 503 : 200,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Cache-Control": "no-store",
      "Content-Security-Policy": policyOf(nonce),
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "same-origin",
      // Browsers ignore it for other origins, and write so to the console.
      ...(isTrustworthy(requestHeaders) ? { "Cross-Origin-Opener-Policy": "same-origin" } : {}),
    },
  });
}

function policyOf(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

async function asset(find: FindFile, name: string, accepted: string): Promise<Response> {
  const [, extension = ""] = FILE_NAME.exec(name) ?? [];
  const type = MEDIA_TYPES[extension];
  if (type === undefined) throw noRoute();
  const encodings = ["br", "gzip"] as const;
  const encoding = encodings.find((known) => acceptsEncoding(accepted, known));
  const file = await find(`${name}.${encoding === "br" ? "br" : "gz"}`);
  if (file === null) throw noRoute();
  // A client without both is rare, so the uncompressed files are not stored.
  const body = encoding === undefined ? await textOf(file) : file;
  return new Response(body, {
    headers: {
      "Content-Type": type,
      "Cache-Control": "public, max-age=31536000, immutable",
      Vary: "Accept-Encoding",
      "X-Content-Type-Options": "nosniff",
      ...(encoding === undefined ? {} : { "Content-Encoding": encoding }),
    },
  });
}

const textOf = async (file: Blob) =>
  new TextDecoder().decode(Bun.gunzipSync(await file.arrayBuffer()));

const noRoute = () => new AppError(404, "ROUTE_NOT_FOUND", "No route has this path.");

/** The files in the executable, listed at the first request; from source, those of dist/ui. */
function defaultFiles(): FindFile {
  let embedded: ReadonlyMap<string, Blob> | null = null;
  return async (name) => {
    embedded ??= embeddedFiles();
    if (embedded.size > 0) return embedded.get(name) ?? null;
    const file = Bun.file(join(FOLDER, name));
    return (await file.exists()) ? file : null;
  };
}

function embeddedFiles(): ReadonlyMap<string, Blob> {
  return new Map(
    Bun.embeddedFiles.flatMap((file): [string, Blob][] => {
      // The type of the runtime is Blob, which has no name.
      const name: unknown = Reflect.get(file, "name");
      const isOurs = typeof name === "string" && name.startsWith("ui/");
      return isOurs ? [[name.slice("ui/".length), file]] : [];
    }),
  );
}

const MISSING = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>The dashboard is not built</title>
<h1>The dashboard is not built</h1>
<p>This server runs from source. Run <code>bun scripts/ui.ts</code> in the checkout and reload this
page. <a href="/docs">The documentation of the API</a> works without it.</p>
</html>
`;
