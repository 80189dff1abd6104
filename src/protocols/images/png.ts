/** PNG (W3C Portable Network Graphics, third edition): a signature, and chunks up to IEND. */

import { MAX_PARTS, type ReadParts } from "./image-file.ts";

const SIGNATURE_BYTES = 8;
/** Length, type and checksum. */
const CHUNK_BYTES = 12;
/** Chunks that the image is shown with; those of APNG among them (§4.9, §11). */
const KEPT = new Set(
  (
    "IHDR PLTE IDAT IEND tRNS cHRM gAMA iCCP sBIT sRGB cICP mDCV cLLI bKGD hIST pHYs sPLT " +
    "acTL fcTL fdAT"
  ).split(" "),
);

export function readPng(file: Buffer): ReadParts {
  const kept: Buffer[] = [file.subarray(0, SIGNATURE_BYTES)];
  let isAnimated = false;
  let hasPixels = false;
  let size = { width: 0, height: 0 };
  for (let at = SIGNATURE_BYTES, parts = 0; parts < MAX_PARTS; parts++) {
    const length = file.readUInt32BE(at);
    const type = file.toString("latin1", at + 4, at + 8);
    const end = at + CHUNK_BYTES + length;
    if (end > file.length) return null;
    if ((at === SIGNATURE_BYTES) !== (type === "IHDR")) return null;
    if (type === "IHDR") {
      if (length !== 13) return null;
      size = { width: file.readUInt32BE(at + 8), height: file.readUInt32BE(at + 12) };
    }
    if (type === "acTL") isAnimated = true;
    if (type === "IDAT") hasPixels = true;
    if (type === "fcTL") size = withFrame(size, file, at + 8);
    if (KEPT.has(type)) kept.push(file.subarray(at, end));
    at = end;
    if (type !== "IEND") continue;
    if (!hasPixels) return null;
    return { ...size, isAnimated, orientation: 1, bytes: Buffer.concat(kept) };
  }
  return null;
}

type Size = { width: number; height: number };

/** A frame lies inside of the image; a wrong one may not (§11.3.6.2). */
function withFrame(size: Size, file: Buffer, at: number): Size {
  return {
    width: Math.max(size.width, file.readUInt32BE(at + 4)),
    height: Math.max(size.height, file.readUInt32BE(at + 8)),
  };
}
