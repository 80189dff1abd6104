/** The result of reading an image file, the same for all formats. */

/** A file without its metadata. Width and height are those of the largest part, in pixels. */
export type ImageFile = {
  format: "png" | "jpeg" | "gif" | "webp";
  width: number;
  height: number;
  isAnimated: boolean;
  /** 1 to 8 as in Exif; 1 if the image is shown as it is stored. */
  orientation: number;
  bytes: Uint8Array;
  /** The first frame as an image of its own, for a format whose animations cannot be decoded. */
  firstFrame?: Uint8Array;
};

/** Most chunks, segments, or blocks of one file; real files have up to some hundred. */
export const MAX_PARTS = 20_000;

/** The parts of a file that are kept, or null if its structure is damaged. */
export type ReadParts = Omit<ImageFile, "format"> | null;
