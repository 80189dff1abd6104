/** A Bun macro: it runs during bundling and embeds the pages of docs/ in the executable. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export type DocsPage = {
  /** The name of the file, such as `sending.md`. */
  name: string;
  title: string;
  /** The first paragraph below the title, in one line. */
  summary: string;
  text: string;
};

export function readDocs(): DocsPage[] {
  const folder = join(import.meta.dir, "../../docs");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => {
      const text = readFileSync(join(folder, name), "utf8");
      const [heading = "", first = ""] = text.split("\n\n");
      const title = heading.replace(/^# /, "");
      return { name, title, summary: first.replaceAll("\n", " "), text };
    });
}
