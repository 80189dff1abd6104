/**
 * Reads the headers of PNG, JPEG, GIF and WebP files and removes their metadata, without decoding
 * pixels. `readImage` recognises the format by the first bytes and calls its file: png.ts, jpeg.ts,
 * gif.ts or webp.ts. Each walks over the parts of the file once, and keeps those that are needed to show
 * it; text, camera data, places, thumbnails and bytes after the end of the image are left
 * out. Colour profiles are kept.
 */

import { readGif } from "./gif.ts";
import type { ImageFile, ReadParts } from "./image-file.ts";
import { readJpeg } from "./jpeg.ts";
import { readPng } from "./png.ts";
import { readWebp } from "./webp.ts";

/** The kinds of file that are known and not accepted. */
export type OtherKind = "svg" | "unknown";
type ReadImage =
  | { ok: true; image: ImageFile }
  /** `kind` is a format whose structure is damaged, or another kind of file. */
  | { ok: false; kind: ImageFile["format"] | OtherKind };

const READERS: Readonly<Record<ImageFile["format"], (bytes: Buffer) => ReadParts>> = {
  png: readPng,
  jpeg: readJpeg,
  gif: readGif,
  webp: readWebp,
};

export function readImage(bytes: Uint8Array): ReadImage {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const format = formatOf(file);
  if (format === "svg" || format === "unknown") return { ok: false, kind: format };
  try {
    const parts = READERS[format](file);
    return parts === null ? { ok: false, kind: format } : { ok: true, image: { format, ...parts } };
  } catch (error) {
    // A part ends behind the end of the file.
    if (error instanceof RangeError) return { ok: false, kind: format };
    throw error;
  }
}

const SVG = /^\s{0,200}<(?:\?xml|!doctype svg|!--|svg)/i;

function formatOf(file: Buffer): ImageFile["format"] | OtherKind {
  const start = file.toString("latin1", 0, 12);
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "png";
  if (start.startsWith("\xff\xd8\xff")) return "jpeg";
  if (start.startsWith("GIF87a") || start.startsWith("GIF89a")) return "gif";
  if (start.startsWith("RIFF") && start.endsWith("WEBP")) return "webp";
  return SVG.test(file.toString("utf8", 0, 256)) ? "svg" : "unknown";
}
