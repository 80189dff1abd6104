/** WebP (RFC 9649): chunks in a RIFF file. */

import { MAX_PARTS, type ReadParts } from "./image-file.ts";

const HEADER_BYTES = 12;
const KEPT = new Set(["VP8 ", "VP8L", "VP8X", "ANIM", "ANMF", "ALPH", "ICCP"]);
const FLAG_ANIMATED = 0x02;
const FLAG_XMP = 0x04;
const FLAG_EXIF = 0x08;

export function readWebp(file: Buffer): ReadParts {
  const riffEnd = 8 + file.readUInt32LE(4);
  if (riffEnd > file.length) return null;
  const kept: Buffer[] = [];
  const size = { width: 0, height: 0 };
  let isAnimated = false;
  let hasPixels = false;
  let firstFrame: Buffer | null = null;

  function grow(found: Size | null): void {
    if (found === null) return;
    hasPixels = true;
    size.width = Math.max(size.width, found.width);
    size.height = Math.max(size.height, found.height);
  }

  for (let at = HEADER_BYTES, parts = 0; at + 8 <= riffEnd; parts++) {
    if (parts === MAX_PARTS) return null;
    const type = file.toString("latin1", at, at + 4);
    const length = file.readUInt32LE(at + 4);
    // Chunks have even lengths, but the last one may lack its padding.
    if (at + 8 + length > riffEnd) return null;
    const data = file.subarray(at + 8, at + 8 + length);
    if (type === "VP8X") {
      const flags = data.readUInt8(0);
      isAnimated = (flags & FLAG_ANIMATED) !== 0;
      size.width = 1 + data.readUIntLE(4, 3);
      size.height = 1 + data.readUIntLE(7, 3);
      kept.push(chunk(type, withFlags(data, flags & ~(FLAG_XMP | FLAG_EXIF))));
    } else if (type === "ANMF") {
      grow({ width: 1 + data.readUIntLE(6, 3), height: 1 + data.readUIntLE(9, 3) });
      const frame = pixelsOfFrame(data.subarray(16));
      if (frame === null) return null;
      grow(frame.size);
      firstFrame ??= riff([chunk(frame.type, frame.data)]);
      kept.push(chunk(type, data));
    } else if (KEPT.has(type)) {
      grow(sizeOfPixels(type, data));
      kept.push(chunk(type, data));
    }
    at += 8 + length + (length & 1);
  }
  if (!hasPixels) return null;
  const whole = { ...size, isAnimated, orientation: 1, bytes: riff(kept) };
  return firstFrame === null ? whole : { ...whole, firstFrame };
}

type Size = { width: number; height: number };

/** The chunk with the pixels of a frame; its transparency is another one. */
function pixelsOfFrame(data: Buffer): { type: string; data: Buffer; size: Size } | null {
  for (let at = 0; at + 8 <= data.length;) {
    const type = data.toString("latin1", at, at + 4);
    const length = data.readUInt32LE(at + 4);
    const pixels = data.subarray(at + 8, at + 8 + length);
    const size = sizeOfPixels(type, pixels);
    if (size !== null) return { type, data: pixels, size };
    at += 8 + length + (length & 1);
  }
  return null;
}

/** Null for a chunk without pixels. */
function sizeOfPixels(type: string, data: Buffer): Size | null {
  if (type === "VP8 ") {
    // A key frame (RFC 6386 §9.1): the size follows its start code.
    return { width: data.readUInt16LE(6) & 0x3fff, height: data.readUInt16LE(8) & 0x3fff };
  }
  if (type === "VP8L") {
    const bits = data.readUInt32LE(1);
    return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
  }
  return null;
}

function withFlags(data: Buffer, flags: number): Buffer {
  const changed = Buffer.from(data);
  changed.writeUInt8(flags, 0);
  return changed;
}

function riff(chunks: readonly Buffer[]): Buffer {
  const body = Buffer.concat(chunks);
  const header = Buffer.from("RIFF\0\0\0\0WEBP", "latin1");
  header.writeUInt32LE(4 + body.length, 4);
  return Buffer.concat([header, body]);
}

function chunk(type: string, data: Buffer): Buffer {
  const header = Buffer.alloc(8);
  header.write(type, "latin1");
  header.writeUInt32LE(data.length, 4);
  return Buffer.concat([header, data, Buffer.alloc(data.length & 1)]);
}
