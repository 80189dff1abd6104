/** Loads the styles of the page of one form. */

import pages from "./forms.css" with { type: "file" };
import { loadStyles } from "../../ui/style-sheet.ts";

loadStyles(pages);
