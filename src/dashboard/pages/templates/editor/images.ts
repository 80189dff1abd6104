/** Images that mails show, uploaded to the server. */

import { api } from "../../../api.ts";

/** The members of an image that an editor needs. */
type UploadedImage = { url: string; width: number; height: number };

/** The width at which wider images are shown, in pixels: that of most mails. */
const WIDEST_PX = 600;

export async function uploadImage(project: string, file: File): Promise<UploadedImage> {
  const form = new FormData();
  form.set("file", file, file.name);
  const query = { width: WIDEST_PX };
  return await api.upload<UploadedImage>("/images", form, { project, query });
}

/** The element of an image. Its alternative text is empty, so that the author writes it. */
export function imageTag({ url, width, height }: UploadedImage): string {
  const shown = Math.min(width, WIDEST_PX);
  const high = Math.round((height * shown) / width);
  return `<img src="${url}" width="${shown}" height="${high}" alt="" style="max-width: 100%; height: auto">`;
}
