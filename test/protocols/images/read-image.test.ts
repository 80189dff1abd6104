import { describe, expect, test } from "bun:test";
import { readImage } from "../../../src/protocols/images/read-image.ts";
import {
  drawImage,
  exif,
  extendedWebp,
  gifImage,
  withJpegSegment,
  withPngChunk,
  withPngSize,
} from "../../support/images.ts";

const png = await drawImage(20, 10, "png");
const jpeg = await drawImage(20, 10, "jpeg");
const webp = await drawImage(20, 10, "webp");
const size = { width: 20, height: 10 };
const behind = Buffer.from("<script>behind</script>");

type Wanted = {
  format: "png" | "jpeg" | "gif" | "webp";
  width: number;
  height: number;
  bytes: Buffer;
} & Partial<{
  isAnimated: boolean;
  orientation: number;
}>;

describe("an image is read, and freed of its metadata", () => {
  const gif = gifImage();
  const cases: [why: string, given: Buffer, wanted: Wanted][] = [
    ["PNG", png, { format: "png", ...size, bytes: png }],
    [
      "text in a PNG",
      withPngChunk(png, "tEXt", "Author\0Ada"),
      { format: "png", ...size, bytes: png },
    ],
    ["Exif in a PNG", withPngChunk(png, "eXIf", exif(1)), { format: "png", ...size, bytes: png }],
    ["bytes behind a PNG", Buffer.concat([png, behind]), { format: "png", ...size, bytes: png }],
    ["JPEG", jpeg, { format: "jpeg", ...size, bytes: jpeg }],
    [
      "Exif in a JPEG",
      withJpegSegment(jpeg, 0xe1, exif(6)),
      { format: "jpeg", ...size, bytes: jpeg, orientation: 6 },
    ],
    [
      "a comment in a JPEG",
      withJpegSegment(jpeg, 0xfe, Buffer.from("secret")),
      { format: "jpeg", ...size, bytes: jpeg },
    ],
    [
      "bytes behind a JPEG",
      Buffer.concat([jpeg, behind]),
      { format: "jpeg", ...size, bytes: jpeg },
    ],
    ["GIF", gif, { format: "gif", width: 1, height: 1, bytes: gif }],
    [
      "a comment in a GIF",
      gifImage({ comment: "secret" }),
      { format: "gif", width: 1, height: 1, bytes: gif },
    ],
    [
      "an animated GIF",
      gifImage({ frames: 2 }),
      { format: "gif", width: 1, height: 1, bytes: gifImage({ frames: 2 }), isAnimated: true },
    ],
    [
      "bytes behind a GIF",
      Buffer.concat([gif, behind]),
      { format: "gif", width: 1, height: 1, bytes: gif },
    ],
    ["WebP", webp, { format: "webp", ...size, bytes: webp }],
    [
      "bytes behind a WebP",
      Buffer.concat([webp, behind]),
      { format: "webp", ...size, bytes: webp },
    ],
  ];
  test.each(cases)("%s", (_, given, wanted) => {
    const image = { isAnimated: false, orientation: 1, ...wanted };
    expect(readImage(given)).toEqual({ ok: true, image });
  });

  test("Exif in a WebP, and the flag that announces it", () => {
    for (const frames of [1, 2]) {
      const read = readImage(extendedWebp(webp, { ...size, frames }));
      if (!read.ok) throw new Error("not read");
      const bytes = Buffer.from(read.image.bytes);
      expect([read.image.width, read.image.isAnimated]).toEqual([20, frames === 2]);
      expect(bytes.includes("EXIF")).toBe(false);
      expect(bytes.readUInt8(20) & 0x08).toBe(0);
      expect(bytes.readUInt32LE(4)).toBe(bytes.length - 8);
    }
  });
});

describe("what is no image is refused", () => {
  const cases: [why: string, given: Buffer, kind: string][] = [
    ["nothing", Buffer.alloc(0), "unknown"],
    ["text", Buffer.from("hello"), "unknown"],
    ["SVG", Buffer.from('<svg xmlns="x"><script/></svg>'), "svg"],
    ["SVG with a declaration", Buffer.from('\ufeff <?xml version="1.0"?><svg/>'), "svg"],
    ["a PNG that is cut off", png.subarray(0, -20), "png"],
    ["a PNG without pixels", Buffer.concat([png.subarray(0, 33), png.subarray(-12)]), "png"],
    ["a JPEG that is cut off", jpeg.subarray(0, -2), "jpeg"],
    ["a JPEG without a frame", Buffer.from([0xff, 0xd8, 0xff, 0xd9]), "jpeg"],
    ["a GIF that is cut off", gifImage().subarray(0, -1), "gif"],
    ["a GIF without a frame", gifImage({ frames: 0 }), "gif"],
    ["a WebP that is cut off", webp.subarray(0, 40), "webp"],
    ["a WebP without pixels", Buffer.from("RIFF\x04\0\0\0WEBP"), "webp"],
  ];
  test.each(cases)("%s", (_, given, kind) => {
    expect(readImage(given)).toMatchObject({ ok: false, kind });
  });

  test("every beginning of an image is refused", () => {
    const extended = extendedWebp(webp, { ...size, frames: 2 });
    for (const image of [png, jpeg, gifImage({ comment: "x" }), webp, extended]) {
      const ends = Array.from({ length: Math.min(image.length, 400) }, (__, at) => at);
      expect(ends.filter((end) => readImage(image.subarray(0, end)).ok)).toEqual([]);
    }
  });
});

test("the size is that of the largest part", () => {
  const read = readImage(extendedWebp(webp, { width: 5, height: 5 }));
  expect(read.ok && [read.image.width, read.image.height]).toEqual([20, 10]);
  const large = readImage(withPngSize(png, 30_000, 30_000));
  expect(large.ok && large.image.width).toBe(30_000);
});

test("too many parts are refused in linear time", () => {
  const parts = Buffer.alloc(5 * 1024 * 1024, Buffer.from([0xff, 0xe0, 0, 2]));
  expect(readImage(Buffer.concat([jpeg.subarray(0, 2), parts])).ok).toBe(false);
  const fills = Buffer.alloc(5 * 1024 * 1024, 0xff);
  expect(readImage(Buffer.concat([jpeg.subarray(0, 2), fills])).ok).toBe(false);
});
