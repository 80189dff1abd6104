/** Loads the styles of the pages of workflows. */

import href from "./workflows.css" with { type: "file" };
import { loadStyles } from "../../ui/style-sheet.ts";

loadStyles(href);
