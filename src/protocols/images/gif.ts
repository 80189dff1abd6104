/** GIF (CompuServe, version 89a): a screen, and blocks of frames and extensions up to the trailer. */

import { MAX_PARTS, type ReadParts } from "./image-file.ts";

const HEADER_BYTES = 13;
const FRAME = 0x2c;
const EXTENSION = 0x21;
const TRAILER = 0x3b;
const GRAPHIC_CONTROL = 0xf9;
const APPLICATION = 0xff;
/** Extensions of programs that say how often an animation is repeated. */
const LOOPS = ["NETSCAPE2.0", "ANIMEXTS1.0"];

export function readGif(file: Buffer): ReadParts {
  let width = file.readUInt16LE(6);
  let height = file.readUInt16LE(8);
  let at = HEADER_BYTES + colorBytes(file.readUInt8(10));
  let frames = 0;
  const kept: Buffer[] = [file.subarray(0, at)];
  if (at > file.length) return null;
  for (let parts = 0; parts < MAX_PARTS; parts++) {
    const kind = file.readUInt8(at);
    if (kind === TRAILER) {
      if (frames === 0) return null;
      kept.push(file.subarray(at, at + 1));
      return { width, height, isAnimated: frames > 1, orientation: 1, bytes: Buffer.concat(kept) };
    }
    let end: number;
    let isKept = true;
    if (kind === FRAME) {
      frames++;
      width = Math.max(width, file.readUInt16LE(at + 1) + file.readUInt16LE(at + 5));
      height = Math.max(height, file.readUInt16LE(at + 3) + file.readUInt16LE(at + 7));
      // The descriptor, its colours, and the size of the codes.
      end = blocksEnd(file, at + 10 + colorBytes(file.readUInt8(at + 9)) + 1);
    } else if (kind === EXTENSION) {
      end = blocksEnd(file, at + 2);
      isKept = isShown(file, at);
    } else {
      return null;
    }
    if (isKept) kept.push(file.subarray(at, end));
    at = end;
  }
  return null;
}

/** Comments, texts and the metadata of programs are not. */
function isShown(file: Buffer, at: number): boolean {
  const label = file.readUInt8(at + 1);
  if (label === GRAPHIC_CONTROL) return true;
  return label === APPLICATION && LOOPS.includes(file.toString("latin1", at + 3, at + 14));
}

/** Bytes of a table of colours, by the flags before it. */
const colorBytes = (flags: number): number => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);

/** The offset after a row of blocks, each with its length, up to an empty one. */
function blocksEnd(file: Buffer, from: number): number {
  let at = from;
  for (let length = file.readUInt8(at); length > 0; length = file.readUInt8(at)) at += 1 + length;
  return at + 1;
}
