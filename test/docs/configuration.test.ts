import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { configurationPage } from "../../scripts/configuration-page.ts";

test("docs/configuration.md shows the settings as they are; write it with scripts/configuration-page.ts", () => {
  const page = readFileSync(join(import.meta.dir, "../../docs/configuration.md"), "utf8");
  expect(page).toBe(configurationPage());
});
