/**
 * Makes the image that is stored of an uploaded one. In order: read its header and remove its metadata
 * (protocols/images/), refuse too many pixels, then decode it, to know that it can be shown, and make it
 * smaller if it is more than twice as wide as it is shown. Threads of the runtime decode, one image at a
 * time, because 40 megapixels take 160 MB.
 */

import { AppError, fieldError } from "../../lib/errors.ts";
import { createLimitedTasks } from "../../lib/limited-tasks.ts";
import { perApp } from "../../lib/per-app.ts";
import type { App } from "../../core/app.ts";
import type { ImageFile } from "../../protocols/images/image-file.ts";
import { type OtherKind, readImage } from "../../protocols/images/read-image.ts";

const MAX_SIDE = 8_000;
const MAX_PIXELS = 40_000_000;
/** Screens with a high density show two pixels for one. */
const DENSITY = 2;
const QUALITY = 85;
/** Width in pixels of the output of a trial decoding, which is discarded. */
const PROBE_WIDTH = 16;
/** Images that wait to be decoded, of all projects and of one; each may take some seconds. */
const MAX_WAITING = 20;
const MAX_WAITING_OF_PROJECT = 8;
const RETRY_SECONDS = 10;

const NAMES = { png: "PNG", jpeg: "JPEG", gif: "GIF", webp: "WebP" } as const;

/** Resolves to the image to store. Throws 422 with the reason if it cannot be one. */
export async function processImage(
  app: App,
  projectSeq: number,
  { bytes: given, shownWidth }: { bytes: Uint8Array; shownWidth: number },
): Promise<Omit<ImageFile, "firstFrame">> {
  const read = readImage(given);
  if (!read.ok) throw refused(reasonOf(read.kind));
  const { image } = read;
  ensureSize(image);
  const { format, orientation, bytes, firstFrame = bytes } = image;
  const isTurned = orientation >= 5;
  const width = isTurned ? image.height : image.width;
  const maxWidth = DENSITY * shownWidth;
  // A GIF cannot be written, and of an animation only the first frame would be left.
  const isFixed = image.isAnimated || format === "gif";
  if (isFixed || (orientation === 1 && width <= maxWidth)) {
    const work = () => decoderOf(firstFrame).resize(PROBE_WIDTH).png().bytes();
    await decode(app, projectSeq, { format, work });
    return image;
  }
  // The orientation is in the metadata.
  const work = () => redraw(given, { format, maxWidth });
  const drawn = readImage(await decode(app, projectSeq, { format, work }));
  if (!drawn.ok) throw new Error(`an image was written as ${drawn.kind}`);
  return drawn.image;
}

function ensureSize({ width, height }: ImageFile): void {
  const shown = `${width} × ${height} pixels`;
  if (width === 0 || height === 0) throw refused("has no pixels");
  if (width > MAX_SIDE || height > MAX_SIDE) {
    throw refused(`has ${shown}; at most ${MAX_SIDE} in each direction are accepted`, "too_big");
  }
  if (width * height > MAX_PIXELS) {
    throw refused(`has ${shown}; at most 40 megapixels are accepted`, "too_big");
  }
}

const decoderOf = (bytes: Uint8Array) => new Bun.Image(bytes, { maxPixels: MAX_PIXELS });

/** Writes an image again in its format, upright and not wider than `maxWidth`. */
function redraw(
  given: Uint8Array,
  { format, maxWidth }: { format: ImageFile["format"]; maxWidth: number },
): Promise<Uint8Array> {
  const resized = decoderOf(given).resize(maxWidth, undefined, { withoutEnlargement: true });
  if (format === "png") return resized.png().bytes();
  const lossy = { quality: QUALITY };
  return (format === "jpeg" ? resized.jpeg(lossy) : resized.webp(lossy)).bytes();
}

/** One image is decoded at a time. `waiting` has the project of each that waits or is decoded. */
const decoding = perApp(() => ({ run: createLimitedTasks(1), waiting: new Array<number>() }));

async function decode(
  app: App,
  projectSeq: number,
  { format, work }: { format: ImageFile["format"]; work: () => Promise<Uint8Array> },
): Promise<Uint8Array> {
  const { run, waiting } = decoding(app);
  const own = waiting.filter((project) => project === projectSeq).length;
  if (waiting.length >= MAX_WAITING || own >= MAX_WAITING_OF_PROJECT) throw tooMany();
  waiting.push(projectSeq);
  try {
    return await run(work);
  } catch (error) {
    if (isImageError(error)) throw refused(reasonOf(format));
    throw error;
  } finally {
    waiting.splice(waiting.indexOf(projectSeq), 1);
  }
}

const isImageError = (error: unknown): boolean =>
  error instanceof Error && "code" in error && String(error.code).startsWith("ERR_IMAGE_");

function reasonOf(kind: ImageFile["format"] | OtherKind): string {
  if (kind === "svg") {
    return "is an SVG image, which may contain scripts and which most mail programs do not show; export it as PNG";
  }
  if (kind === "unknown") return "is not a PNG, JPEG, GIF or WebP image";
  return `is a damaged or incomplete ${NAMES[kind]} image`;
}

function refused(message: string, code: "invalid_format" | "too_big" = "invalid_format"): AppError {
  return fieldError("file", code, message);
}

function tooMany(): AppError {
  const message = "Too many images are decoded at the same time.";
  return new AppError(503, "SERVICE_UNAVAILABLE", message, {
    suggestion: "Nothing was stored. Send the image again after the seconds in Retry-After.",
    headers: { "Retry-After": String(RETRY_SECONDS) },
  });
}
