/** Images that mails show, uploaded to the server. */

import { api } from "../../../api.ts";

/** What the answer says of an image. */
type UploadedImage = { url: string; width: number; height: number };

/** Shown width of an image that is wider, in pixels: that of most mails. */
const WIDEST_PX = 600;

export async function uploadImage(project: string, file: File): Promise<UploadedImage> {
  const form = new FormData();
  form.set("file", file, file.name);
  const query = { width: WIDEST_PX };
  return await api.upload<UploadedImage>("/images", form, { project, query });
}

/** The element of an image. The alternative text is to be written. */
export function imageTag({ url, width, height }: UploadedImage): string {
  const shown = Math.min(width, WIDEST_PX);
  const high = Math.round((height * shown) / width);
  return `<img src="${url}" width="${shown}" height="${high}" alt="" style="max-width: 100%; height: auto">`;
}
