/** Loads the styles of the pages of one template or layout. */

import editor from "./editor/editor.css" with { type: "file" };
import pages from "./templates.css" with { type: "file" };
import { loadStyles } from "../../ui/style-sheet.ts";

loadStyles(editor);
loadStyles(pages);
