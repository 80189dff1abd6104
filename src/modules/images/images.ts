/**
 * Images that mails show. An uploaded file is checked, freed of its metadata and made smaller if it is
 * larger than it is shown (process.ts), and stored once in a project, by the SHA-256 of the stored
 * file. It is public at `/i/DIGEST.FORMAT`, because the programs of recipients read it: the address
 * never shows another image, so it may be kept for a year.
 */

import { type Static, Type } from "@sinclair/typebox";
import { and, eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { IMAGE_FORMATS, imageContents, images } from "../../db/schema/images.ts";
import { statement } from "../../db/statement.ts";
import type { Project } from "../../http/admission.ts";
import { described, named } from "../../http/documented.ts";
import { Envelope, ListEnvelope, NoContent, type Page } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { operations, read, write } from "../../http/operations.ts";
import { containsText, PageQuery, smallPage } from "../../http/pagination.ts";
import { Input, OneOf } from "../../http/validation.ts";
import { isoTime } from "../../lib/clock.ts";
import { sha256 } from "../../lib/crypto.ts";
import { AppError, notFound } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { perApp } from "../../lib/per-app.ts";
import type { ImageFile } from "../../protocols/images/image-file.ts";
import type { Noun } from "../module.ts";

const DIGEST_EXAMPLE = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

export const Image = named(
  "Image",
  described(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      url: Type.String(),
      format: OneOf(IMAGE_FORMATS),
      width: Type.Integer(),
      height: Type.Integer(),
      sizeBytes: Type.Integer(),
      createdAt: Type.String({ format: "date-time" }),
    }),
    {
      id: "Id of the image",
      name: "Name of the file that was uploaded",
      url: "Address that mails contain; it always shows the same image",
      format: "Format of the stored image",
      width: "Width in pixels",
      height: "Height in pixels",
      sizeBytes: "Length of the stored image in bytes",
      createdAt: "When the image was uploaded",
    },
  ),
  {
    description: "An image that mails can show",
    example: {
      id: EXAMPLE.imageId,
      name: "logo.png",
      url: `https://mail.acme.example/i/${DIGEST_EXAMPLE}.png`,
      format: "png",
      width: 600,
      height: 200,
      sizeBytes: 8_412,
      createdAt: EXAMPLE.createdAt,
    },
  },
);
export type Image = Static<typeof Image>;

const ImageListQuery = Input({
  ...PageQuery.properties,
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: "Only images whose name contains this text; case matters beyond ASCII",
    }),
  ),
});

export const imageNoun: Noun = {
  name: "images",
  operations: operations("Images", { parameters: { id: "Id of the image" } }, [
    read("GET /images", {
      id: "listImages",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "List images",
      description: "Images whose name contains the text, newest first; all without a text.",
      query: ImageListQuery,
      answer: ListEnvelope(Image),
      run: (app, { project, query }) => listImages(app, project, query),
    }),
    read("GET /images/:id", {
      id: "getImage",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "Get an image",
      description: "The address and the size of the image.",
      answer: Envelope(Image),
      run: (app, { project, params }) => presentImage(app, getImage(app, project.seq, params.id)),
    }),
    write("DELETE /images/:id", {
      id: "deleteImage",
      role: "EDITOR",
      summary: "Delete an image",
      description:
        "Mails that were sent do not show it any more. An image that a template, a layout or an " +
        "unfinished campaign contains, or that is the logo of the project, is refused with 409, which " +
        "names them.",
      isWithinQuota: false,
      answer: NoContent,
      prepare: (app, { project, params }) =>
        ensureUnused(app, project.seq, getImage(app, project.seq, params.id)),
      run: (app, { project, params }) => deleteImage(app, getImage(app, project.seq, params.id)),
    }),
  ]),
};

type ImageRow = typeof images.$inferSelect;

function listImages(
  app: App,
  project: Project,
  { name, ...query }: Static<typeof ImageListQuery>,
): Promise<Page<Image>> {
  return smallPage(app, project, {
    name: "images",
    query,
    table: images,
    filter: and(
      eq(images.projectSeq, project.seq),
      name === undefined ? undefined : containsText(images.name, name),
    ),
    present: (row) => presentImage(app, row),
  });
}

/** Throws 404 without such an image. */
function getImage({ db }: App, projectSeq: number, id: string): ImageRow {
  const isThis = and(eq(images.projectSeq, projectSeq), eq(images.id, id));
  const image = db.select().from(images).where(isThis).limit(1).get();
  if (image === undefined) throw notFound("IMAGE");
  return image;
}

/** Part of a change: stores an image, or returns the one that the project has with these bytes. */
export function storeImage(
  { db, clock }: App,
  projectSeq: number,
  { name, image }: { name: string; image: Omit<ImageFile, "firstFrame"> },
): { row: ImageRow; isNew: boolean } {
  const { format, width, height, bytes } = image;
  const digest = sha256(bytes);
  const isThis = and(eq(images.projectSeq, projectSeq), eq(images.digest, digest));
  const known = db.select().from(images).where(isThis).limit(1).get();
  if (known !== undefined) return { row: known, isNew: false };
  const now = clock.now();
  const sizeBytes = bytes.byteLength;
  const values = { name, digest, format, width, height, sizeBytes, projectSeq, createdAt: now };
  const row = db
    .insert(images)
    .values({ ...values, id: newId(now) })
    .returning()
    .get();
  db.insert(imageContents)
    .values({ imageSeq: row.seq, bytes: Buffer.from(bytes) })
    .run();
  return { row, isNew: true };
}

/** An object with the address of an image in its body. */
type BodyUser = { kind: string; name: string };
const MAX_NAMED = 5;

/** Throws 409 if something that will be sent contains the image. It reads all of it, in a thread. */
async function ensureUnused(app: App, projectSeq: number, { digest }: ImageRow): Promise<void> {
  const found = await app.reader.find(projectSeq, {
    sql: `SELECT kind, name FROM (
            SELECT 'template' AS kind, name, body FROM templates WHERE project_seq = ?1
            UNION ALL SELECT 'layout', name, body FROM layouts WHERE project_seq = ?1
            UNION ALL SELECT 'campaign', name, body FROM campaigns
              WHERE project_seq = ?1 AND status NOT IN ('SENT', 'CANCELLED')
            UNION ALL SELECT 'pages of the project', p.name, i.digest
              FROM projects p JOIN images i ON i.id = p.logo_image_id WHERE p.seq = ?1)
          WHERE in_time() AND instr(body, ?2) > 0 LIMIT ${MAX_NAMED}`,
    values: [projectSeq, digest],
  });
  const users = found.rows.map(([kind, name]): BodyUser => ({
    kind: String(kind),
    name: String(name),
  }));
  if (users.length > 0) throw inUse(users);
}

function inUse(users: readonly BodyUser[]): AppError {
  const names = users.map(({ kind, name }) => `${kind} "${name}"`).join(", ");
  return new AppError(409, "CONFLICT", `This image is shown by ${names}.`, {
    suggestion: "Remove it from them first.",
  });
}

function deleteImage(app: App, { seq, digest }: ImageRow): void {
  app.db.delete(images).where(eq(images.seq, seq)).run();
  app.writer.afterCommit(() => forgetServed(app, digest));
}

/** `GET /i/{file}` serves these bytes without authentication. */
type Served = { format: ImageRow["format"]; bytes: Uint8Array };

// Every program of a recipient that shows the mail may run it.
const findServed = statement<Served, [string]>(`
  SELECT i.format, c.bytes FROM images i JOIN image_contents c ON c.image_seq = i.seq
  WHERE i.digest = +? LIMIT 1`);

const CACHE_BYTES = 16 * 1024 * 1024;
/** The images that were read last, by digest, the least recently read one first. */
const served = perApp(() => ({ images: new Map<string, Served>(), bytes: 0 }));

/** Null without such an image. */
export function readServed(app: App, digest: string): Served | null {
  const cache = served(app);
  const known = cache.images.get(digest);
  if (known !== undefined) {
    cache.images.delete(digest);
    cache.images.set(digest, known);
    return known;
  }
  const found = findServed(app).get(digest);
  if (found === null) return null;
  cache.images.set(digest, found);
  cache.bytes += found.bytes.byteLength;
  for (const [oldest, { bytes }] of cache.images) {
    if (cache.bytes <= CACHE_BYTES) break;
    cache.images.delete(oldest);
    cache.bytes -= bytes.byteLength;
  }
  return found;
}

/** A deleted image is not served any more, unless another project has the same. */
function forgetServed(app: App, digest: string): void {
  const cache = served(app);
  cache.bytes -= cache.images.get(digest)?.bytes.byteLength ?? 0;
  cache.images.delete(digest);
}

/** The address of an image. */
export const imageUrl = ({ url }: App, { digest, format }: Pick<ImageRow, "digest" | "format">) =>
  `${url}/i/${digest}.${EXTENSIONS[format]}`;

export function presentImage(app: App, row: ImageRow): Image {
  const { id, name, format, width, height, sizeBytes } = row;
  return {
    id,
    name,
    url: imageUrl(app, row),
    format,
    width,
    height,
    sizeBytes,
    createdAt: isoTime(row.createdAt),
  };
}

export const EXTENSIONS = { png: "png", jpeg: "jpg", gif: "gif", webp: "webp" } as const;
