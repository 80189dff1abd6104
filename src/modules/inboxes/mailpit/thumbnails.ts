/**
 * Makes small pictures of attached images, with the image decoder of Bun. It decodes in a thread.
 * The numbers of bytes and pixels are limited, so a small file cannot take much memory.
 */

import PQueue from "p-queue";

const WIDTH = 180;
const HEIGHT = 120;
const QUALITY = 75;
const MAX_BYTES = 20 * 1024 * 1024;
const MAX_PIXELS = 40_000_000;
/** Images that are decoded at the same time: each may take four bytes for each pixel. */
const CONCURRENCY = 1;
const WHITE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==",
  "base64",
);

export function createThumbnails() {
  const queue = new PQueue({ concurrency: CONCURRENCY });

  async function scaled(content: Uint8Array): Promise<Uint8Array | null> {
    try {
      const image = new Bun.Image(content, { maxPixels: MAX_PIXELS });
      return await image.resize(WIDTH, HEIGHT).jpeg({ quality: QUALITY }).bytes();
    } catch (error) {
      if (isImageError(error)) return null;
      throw error;
    }
  }

  return {
    /** A JPEG of 180×120 pixels; a white one if the content is not an image that can be decoded. */
    async make(content: Uint8Array): Promise<Uint8Array> {
      const found = content.byteLength > MAX_BYTES ? null : await queue.add(() => scaled(content));
      return found ?? new Bun.Image(WHITE).resize(WIDTH, HEIGHT).jpeg().bytes();
    },
  };
}

function isImageError(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("ERR_IMAGE_");
}
