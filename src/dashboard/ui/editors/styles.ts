/** Loads the styles of the parts in this folder. */

import href from "./editors.css" with { type: "file" };
import { loadStyles } from "../style-sheet.ts";

loadStyles(href);
