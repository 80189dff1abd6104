/** The branding of a project on the pages for its recipients: its name, logo and colour. */

import type { App } from "../core/app.ts";
import type { ImageFormat } from "../db/schema/images.ts";
import { statement } from "../db/statement.ts";
import type { Brand } from "../http/brand.ts";
import { imageUrl } from "./images/images.ts";

type LogoRow = { digest: string; format: ImageFormat; width: number; height: number };
type Row = { name: string; color: string | null; logoImageId: string | null };

const findBrand = statement<Row, [number]>(`
  SELECT name, brand_color AS color, logo_image_id AS logoImageId FROM projects WHERE seq = +?`);

const findLogo = statement<LogoRow, [number, string]>(`
  SELECT digest, format, width, height FROM images WHERE project_seq = +? AND id = +?`);

/** Null without such a project. `changes` are shown before they are stored. */
export function brandOf(
  app: App,
  projectSeq: number,
  changes: Partial<Pick<Row, "color" | "logoImageId">> = {},
): Brand | null {
  const row = findBrand(app).get(projectSeq);
  if (row === null) return null;
  const { name, color, logoImageId } = { ...row, ...changes };
  const logo = logoImageId === null ? null : findLogo(app).get(projectSeq, logoImageId);
  if (logo === null) return { name, color, logo };
  const { width, height } = logo;
  // Without the host, because the page may be read by another one, such as a loopback address.
  const path = new URL(imageUrl(app, logo)).pathname;
  return { name, color, logo: { path, width, height } };
}
