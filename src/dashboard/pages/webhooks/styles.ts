/** Loads the styles of the pages of webhooks. */

import href from "./webhooks.css" with { type: "file" };
import { loadStyles } from "../../ui/style-sheet.ts";

loadStyles(href);
