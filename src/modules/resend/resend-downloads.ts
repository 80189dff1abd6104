/**
 * GET /downloads/{token}    the file of a link (download-links.ts), without a key
 *
 * A message is read as a whole for each of its files, so a few are read at once, of projects in turn.
 */

import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { App } from "../../core/app.ts";
import { undocumented } from "../../http/documented.ts";
import { AppError } from "../../lib/errors.ts";
import { createFairQueue, QueueFullError } from "../../lib/fair-queue.ts";
import { perApp } from "../../lib/per-app.ts";
import { type Download, DOWNLOAD_PATH, type FileName, openDownload } from "./download-links.ts";
import { sentFile } from "./resend-attachments.ts";
import { receivedFile } from "./resend-receiving.ts";

const RETRY_SECONDS = 5;

const downloads = perApp(() => createFairQueue({ running: 4, waiting: 200 }));

export const resendDownloads = (app: App) =>
  new Elysia({ name: "resend-downloads" }).get(
    `${DOWNLOAD_PATH}/:token`,
    async ({ params }) => {
      const file = openDownload(app, params.token);
      if (file === null) throw noDownload();
      const { bytes, headers } = await readInTurn(app, file);
      return new Response(Buffer.from(bytes), {
        headers: { ...headers, "Cache-Control": "private, no-store" },
      });
    },
    {
      params: Type.Object({ token: Type.String({ maxLength: 2_000 }) }),
      detail: undocumented("ANYONE"),
    },
  );

async function readInTurn(app: App, file: FileName): Promise<Download> {
  const read = file.mail === "sent" ? sentFile : receivedFile;
  try {
    return await downloads(app).run(String(file.projectSeq), () => read(app, file));
  } catch (error) {
    throw error instanceof QueueFullError ? tooMany() : error;
  }
}

function tooMany(): AppError {
  return new AppError(503, "SERVICE_UNAVAILABLE", "Too many files are being read.", {
    headers: { "Retry-After": String(RETRY_SECONDS) },
    suggestion: "Repeat the request in a few seconds.",
  });
}

function noDownload(): AppError {
  return new AppError(404, "NOT_FOUND", "The link is not valid, or has expired.", {
    suggestion: "List the attachments again for new links, which are valid for an hour.",
  });
}
