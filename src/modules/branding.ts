/** How a project looks on the pages for its recipients: its name, its logo and its colour. */

import type { App } from "../core/app.ts";
import type { ImageFormat } from "../db/schema/images.ts";
import { statement } from "../db/statement.ts";
import type { Brand } from "../http/brand.ts";
import { imageUrl } from "./images/images.ts";

type Row = { name: string; color: string | null } & (
  | { digest: string; format: ImageFormat; width: number; height: number }
  | { digest: null; format: null; width: null; height: null }
);

const findBrand = statement<Row, [number]>(`
  SELECT p.name, p.brand_color AS color, i.digest, i.format, i.width, i.height
  FROM projects p LEFT JOIN images i ON i.id = p.logo_image_id AND i.project_seq = p.seq
  WHERE p.seq = +?`);

/** Null without such a project. */
export function brandOf(app: App, projectSeq: number): Brand | null {
  const row = findBrand(app).get(projectSeq);
  if (row === null) return null;
  const { name, color } = row;
  if (row.digest === null) return { name, color, logo: null };
  const { width, height } = row;
  // Without the host, because the page may be read by another one, such as a loopback address.
  const path = new URL(imageUrl(app, row)).pathname;
  return { name, color, logo: { path, width, height } };
}
