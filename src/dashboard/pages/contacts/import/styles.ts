/** Loads the styles of the import. */

import href from "./import.css" with { type: "file" };
import { loadStyles } from "../../../ui/style-sheet.ts";

loadStyles(href);
