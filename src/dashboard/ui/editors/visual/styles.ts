/** Loads the styles of the visual editor. */

import href from "./visual.css" with { type: "file" };
import { loadStyles } from "../../style-sheet.ts";

loadStyles(href);
