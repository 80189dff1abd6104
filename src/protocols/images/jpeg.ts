/** JPEG (ITU T.81, Annex B): markers, most with a segment, and scans of coded pixels. */

import { MAX_PARTS, type ReadParts } from "./image-file.ts";

const SOI = 0xd8;
const EOI = 0xd9;
const SOS = 0xda;
const COM = 0xfe;
const APP0 = 0xe0;
const APP1 = 0xe1;
const APP2 = 0xe2;
const APP14 = 0xee;
const APP15 = 0xef;
const SOF0 = 0xc0;
const SOF15 = 0xcf;
/** Markers between those of frames that define tables, or are reserved. */
const NO_FRAME = [0xc4, 0xc8, 0xcc];
/** JFIF without its thumbnail. */
const JFIF_BYTES = 14;

export function readJpeg(file: Buffer): ReadParts {
  const kept: Buffer[] = [file.subarray(0, 2)];
  let size = { width: 0, height: 0 };
  let orientation = 1;
  for (let at = 2, parts = 0; parts < MAX_PARTS; parts++) {
    if (file.readUInt8(at) !== 0xff) return null;
    const marker = file.readUInt8(at + 1);
    if (marker === 0xff) {
      at++; // A fill byte.
      continue;
    }
    if (marker === EOI) {
      kept.push(file.subarray(at, at + 2));
      if (size.width === 0) return null;
      return { ...size, isAnimated: false, orientation, bytes: Buffer.concat(kept) };
    }
    if (marker === SOI || marker < SOF0) return null;
    const length = file.readUInt16BE(at + 2);
    let end = at + 2 + length;
    if (length < 2 || end > file.length) return null;
    const segment = file.subarray(at, end);
    if (marker >= SOF0 && marker <= SOF15 && !NO_FRAME.includes(marker)) {
      size = withFrame(size, segment);
    }
    if (marker === APP1) orientation = orientationIn(segment) ?? orientation;
    if (marker === SOS) {
      end = scanEnd(file, end);
      kept.push(file.subarray(at, end));
    } else {
      kept.push(...keptSegment(marker, segment));
    }
    at = end;
  }
  return null;
}

type Size = { width: number; height: number };

/** A height of 0 would be defined by a later marker (DNL), which programs do not write. */
function withFrame({ width, height }: Size, segment: Buffer): Size {
  return {
    width: Math.max(width, segment.readUInt16BE(7)),
    height: Math.max(height, segment.readUInt16BE(5)),
  };
}

/** The offset of the first marker after the coded pixels, which contain FF only as FF00 or restarts. */
function scanEnd(file: Buffer, from: number): number {
  for (let at = file.indexOf(0xff, from); at !== -1; at = file.indexOf(0xff, at + 1)) {
    const next = file.readUInt8(at + 1);
    if (next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at;
  }
  return file.length;
}

function keptSegment(marker: number, segment: Buffer): Buffer[] {
  if (marker === COM) return [];
  if (marker < APP0 || marker > APP15) return [segment];
  const starts = (name: string) => segment.toString("latin1", 4, 4 + name.length) === name;
  if (marker === APP0 && starts("JFIF\0")) return [withoutThumbnail(segment)];
  const isProfile = marker === APP2 && starts("ICC_PROFILE\0");
  // It says how colours are coded.
  const isAdobe = marker === APP14 && starts("Adobe");
  return isProfile || isAdobe ? [segment] : [];
}

function withoutThumbnail(segment: Buffer): Buffer {
  const jfif = Buffer.from(segment.subarray(0, 2 + 2 + JFIF_BYTES));
  jfif.writeUInt16BE(2 + JFIF_BYTES, 2);
  jfif.writeUInt16BE(0, jfif.length - 2);
  return jfif;
}

const ORIENTATION = 0x0112;
const ENTRY_BYTES = 12;
const MAX_ENTRIES = 500;

/** The orientation in the first directory of Exif (CIPA DC-008 §4.6); null without one. */
function orientationIn(segment: Buffer): number | null {
  if (segment.toString("latin1", 4, 10) !== "Exif\0\0") return null;
  const tiff = segment.subarray(10);
  if (tiff.length < 8) return null;
  const isLittle = tiff.toString("latin1", 0, 2) === "II";
  const word = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const start = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  if (start + 2 > tiff.length) return null;
  const count = Math.min(word(start), MAX_ENTRIES);
  for (let index = 0; index < count; index++) {
    const entry = start + 2 + index * ENTRY_BYTES;
    if (entry + ENTRY_BYTES > tiff.length) return null;
    if (word(entry) !== ORIENTATION) continue;
    const value = word(entry + 8);
    return value >= 1 && value <= 8 ? value : null;
  }
  return null;
}
