/** Images for tests, and what programs write into them. */

/** An image with a pattern, in a format that the runtime writes. */
export async function drawImage(
  width: number,
  height: number,
  format: "png" | "jpeg" | "webp",
): Promise<Buffer> {
  const small = new Bun.Image(bitmap(16, 16)).resize(width, height, { filter: "nearest" });
  const drawn = format === "png" ? small.png() : format === "jpeg" ? small.jpeg() : small.webp();
  return drawn.buffer();
}

/** A Windows bitmap of 24 bits, which the runtime reads. */
function bitmap(width: number, height: number): Buffer {
  const header = 54;
  const file = Buffer.alloc(header + width * height * 3);
  file.write("BM");
  file.writeUInt32LE(file.length, 2);
  file.writeUInt32LE(header, 10);
  file.writeUInt32LE(40, 14);
  file.writeInt32LE(width, 18);
  file.writeInt32LE(height, 22);
  file.writeUInt16LE(1, 26);
  file.writeUInt16LE(24, 28);
  for (let at = header; at < file.length; at++) file[at] = (at * 7) % 256;
  return file;
}

/** A GIF of one pixel, with a comment, and with `frames` frames. */
export function gifImage({ frames = 1, comment = "" } = {}): Buffer {
  const start = Buffer.from("R0lGODlhAQABAIAAAAAAAP///w==", "base64");
  const frame = Buffer.from("IfkEAQAAAAAsAAAAAAEAAQAAAgFEAA==", "base64");
  const text =
    comment === ""
      ? ""
      : Buffer.concat([bytes(0x21, 0xfe, comment.length), Buffer.from(comment), bytes(0)]);
  return Buffer.concat([
    start,
    ...(text === "" ? [] : [text]),
    ...Array.from({ length: frames }, () => frame),
    bytes(0x3b),
  ]);
}

const bytes = (...values: number[]) => Buffer.from(values);

/** A PNG with another chunk before its end. */
export function withPngChunk(png: Buffer, type: string, data: string | Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type, "latin1"), Buffer.from(data)]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length - 4);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(Bun.hash.crc32(content));
  const end = png.length - 12;
  return Buffer.concat([png.subarray(0, end), length, content, sum, png.subarray(end)]);
}

/** A PNG whose header says that it has this size. */
export function withPngSize(png: Buffer, width: number, height: number): Buffer {
  const changed = Buffer.from(png);
  changed.writeUInt32BE(width, 16);
  changed.writeUInt32BE(height, 20);
  changed.writeUInt32BE(Bun.hash.crc32(changed.subarray(12, 29)), 29);
  return changed;
}

/** A JPEG with another segment behind its start. */
export function withJpegSegment(jpeg: Buffer, marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([jpeg.subarray(0, 2), head, data, jpeg.subarray(2)]);
}

/** The data of an Exif segment with an orientation. */
export function exif(orientation: number): Buffer {
  const tiff = Buffer.alloc(26);
  tiff.write("MM\0*", "latin1");
  tiff.writeUInt32BE(8, 4);
  tiff.writeUInt16BE(1, 8);
  tiff.writeUInt16BE(0x0112, 10);
  tiff.writeUInt16BE(3, 12);
  tiff.writeUInt32BE(1, 14);
  tiff.writeUInt16BE(orientation, 18);
  return Buffer.concat([Buffer.from("Exif\0\0", "latin1"), tiff, Buffer.from("GPS 52.5 N")]);
}

/** A chunk of WebP. */
function webpChunk(type: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(type, "latin1");
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length & 1)]);
}

/** An extended WebP of a simple one, with Exif; animated if `frames` is greater than 1. */
export function extendedWebp(
  simple: Buffer,
  { width, height, frames = 1 }: { width: number; height: number; frames?: number },
): Buffer {
  const pixels = simple.subarray(12);
  const head = Buffer.alloc(10);
  head.writeUInt8(0x08 + (frames > 1 ? 0x02 : 0), 0);
  head.writeUIntLE(width - 1, 4, 3);
  head.writeUIntLE(height - 1, 7, 3);
  const frame = Buffer.alloc(16);
  frame.writeUIntLE(width - 1, 6, 3);
  frame.writeUIntLE(height - 1, 9, 3);
  const images =
    frames === 1
      ? [pixels]
      : Array.from({ length: frames }, () => webpChunk("ANMF", Buffer.concat([frame, pixels])));
  const body = Buffer.concat([
    Buffer.from("WEBP"),
    webpChunk("VP8X", head),
    ...(frames > 1 ? [webpChunk("ANIM", Buffer.alloc(6))] : []),
    ...images,
    webpChunk("EXIF", exif(1)),
  ]);
  const riff = Buffer.alloc(8);
  riff.write("RIFF");
  riff.writeUInt32LE(body.length, 4);
  return Buffer.concat([riff, body]);
}
