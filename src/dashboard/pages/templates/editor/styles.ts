/** Loads the styles of the editors of templates and layouts. */

import href from "./editor.css" with { type: "file" };
import { loadStyles } from "../../../ui/style-sheet.ts";

await loadStyles(href);
