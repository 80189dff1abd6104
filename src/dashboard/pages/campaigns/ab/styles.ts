/** Loads the styles of A/B tests. */

import href from "./ab.css" with { type: "file" };
import { loadStyles } from "../../../ui/style-sheet.ts";

loadStyles(href);
