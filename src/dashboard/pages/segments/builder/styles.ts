/** Loads the styles of the builder of conditions. */

import href from "./builder.css" with { type: "file" };
import { loadStyles } from "../../../ui/style-sheet.ts";

loadStyles(href);
