/**
 * POST /images          upload an image: as it is, or as a form
 * GET  /i/{file}        read an image, without authentication
 */

import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { App } from "../../core/app.ts";
import type { Project } from "../../http/admission.ts";
import {
  announcedBytes,
  type Bodies,
  bodiesOf,
  emptyBody,
  refuseEncoded,
  tooLarge,
} from "../../http/body.ts";
import { describeOperations } from "../../http/documented.ts";
import { Envelope, envelope, ErrorBody, withErrors } from "../../http/envelope.ts";
import { FORM_OVERHEAD_BYTES, receiveFile } from "../../http/multipart.ts";
import { Input, QueryInteger } from "../../http/validation.ts";
import { sha256 } from "../../lib/crypto.ts";
import { notFound } from "../../lib/errors.ts";
import { freeMemory } from "../../lib/free-memory.ts";
import type { Module } from "../module.ts";
import { EXTENSIONS, Image, presentImage, readServed, storeImage } from "./images.ts";
import { processImage } from "./process.ts";
import { perApp } from "../../lib/per-app.ts";
import { admissionOf } from "../admission.ts";

const MAX_BYTES = 5 * 1024 * 1024;
const DEFAULT_WIDTH = 1_200;

const UploadQuery = Input({
  width: Type.Optional(
    QueryInteger({
      minimum: 16,
      maximum: 4_000,
      description:
        "Width at which mails show the image, in pixels, default 1200. An image that is more than " +
        "twice as wide is made smaller.",
    }),
  ),
  name: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: "Name of the image" }),
  ),
});

const imageOperations = describeOperations(
  { tag: "Images", id: "Id of the image" },
  {
    uploadImage: {
      role: "EDITOR",
      summary: "Upload an image",
      description:
        "PNG, JPEG, GIF or WebP, up to 5 MiB, 8000 pixels in each direction and 40 megapixels. Anything " +
        "else is refused, and nothing is stored. Metadata, such as the place of a photo, is removed. " +
        "An image that the project has already is answered with 200. The body may also be the image " +
        "itself, without a form.",
      isIdempotent: true,
      links: { getImage: { id: "/data/id" }, deleteImage: { id: "/data/id" } },
    },
    showImage: {
      role: "ANYONE",
      summary: "Read an image",
      description: "For the programs of recipients. The address always shows the same image.",
      security: [],
      access: "KEY",
      parameters: { file: "The digest of the image, a dot, and its format" },
    },
  },
);

const FORM = {
  type: "object" as const,
  description: "A form with the image",
  required: ["file"],
  additionalProperties: true,
  properties: { file: { type: "string" as const, format: "binary", description: "The image" } },
  "x-max-body-bytes": MAX_BYTES + FORM_OVERHEAD_BYTES,
  examples: [{ file: "…" }],
};

export const imageModule = perApp(createImageModule);

function createImageModule(app: App): Module {
  const [admission, bodies] = [admissionOf(app), bodiesOf(app)];

  const upload = new Elysia({ name: "image-upload-routes" }).use(admission.secretKeyStreaming).post(
    "/images",
    async ({ project, request, query, once }) => {
      const file = await receive(bodies, project, request);
      const { name = file.name } = query;
      const shownWidth = query.width === undefined ? DEFAULT_WIDTH : Number(query.width);
      const identity = { shownWidth, name, digest: sha256(file.bytes) };
      return once(async () => {
        const image = await processImage(app, project.seq, { bytes: file.bytes, shownWidth });
        return () => {
          const { row, isNew } = storeImage(app, project.seq, { name, image });
          return { status: isNew ? 201 : 200, body: envelope(presentImage(app, row)) };
        };
      }, identity);
    },
    {
      query: UploadQuery,
      response: withErrors({ 200: Envelope(Image), 201: Envelope(Image) }),
      detail: {
        ...imageOperations.uploadImage,
        requestBody: {
          required: true,
          content: { "multipart/form-data": { schema: FORM } },
        },
      },
    },
  );

  const show = new Elysia({ name: "image-routes" }).get(
    "/i/:file",
    ({ params, request }) => respond(app, params.file, request),
    {
      params: Type.Object({ file: Type.String() }),
      response: {
        200: Type.Unsafe<Response>(
          Type.Any({
            type: "string",
            contentMediaType: "image/png",
            description: "The image",
            examples: ["\u0089PNG…"],
          }),
        ),
        404: ErrorBody,
      },
      detail: imageOperations.showImage,
    },
  );
  return { name: "image files", routes: [upload, show] };
}

type Uploaded = { name: string; bytes: Uint8Array };

/** The file of a form, or the whole body. */
async function receive(bodies: Bodies, project: Project, request: Request): Promise<Uploaded> {
  const holder = { projectSeq: project.seq, isPublic: false };
  const isForm = /^multipart\/form-data/i.test(request.headers.get("content-type") ?? "");
  const kept: Uint8Array[] = [];
  let name = "image";
  if (isForm) {
    const pieces = () => bodies.pieces(request, holder);
    await receiveFile(
      { request, pieces },
      {
        name: "file",
        maxBytes: MAX_BYTES,
        advice: "Export the image with fewer pixels, or with a stronger compression.",
        named: (fileName) => (name = nameOf(fileName) ?? name),
        store: async (bytes) => void kept.push(bytes),
      },
    );
  } else {
    refuseEncoded(request);
    if (request.body === null) throw emptyBody();
    if ((announcedBytes(request) ?? 0) > MAX_BYTES) throw tooLarge(MAX_BYTES);
    let size = 0;
    for await (const piece of await bodies.pieces(request, holder)) {
      size += piece.byteLength;
      if (size > MAX_BYTES) throw tooLarge(MAX_BYTES);
      kept.push(piece);
    }
  }
  const bytes = Buffer.concat(kept);
  // The pieces of a form are parts of larger ones.
  if (!isForm) for (const piece of kept) freeMemory(piece);
  if (bytes.byteLength === 0) throw emptyBody();
  return { name, bytes };
}

/** The name of a file without its folders; null if nothing is left. */
function nameOf(fileName: string): string | null {
  const name = fileName.split(/[/\\]/).at(-1)?.trim().slice(0, 255).toWellFormed() ?? "";
  return name === "" ? null : name;
}

const FILE_NAME = /^([0-9a-f]{64})\.(png|jpg|gif|webp)$/;

const HEADERS = {
  "Cache-Control": "public, max-age=31536000, immutable",
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; sandbox",
  // Web programs for mail show it in pages of other origins.
  "Cross-Origin-Resource-Policy": "cross-origin",
};

function respond(app: App, file: string, { headers }: Request): Response {
  const [, digest = "", extension] = FILE_NAME.exec(file) ?? [];
  const image = digest === "" ? null : readServed(app, digest);
  if (image === null || EXTENSIONS[image.format] !== extension) throw notFound("IMAGE");
  const tag = `"${digest}"`;
  const common = { ...HEADERS, ETag: tag };
  if (headers.get("if-none-match") === tag)
    return new Response(null, { status: 304, headers: common });
  return new Response(Buffer.from(image.bytes), {
    headers: { ...common, "Content-Type": `image/${image.format}` },
  });
}
