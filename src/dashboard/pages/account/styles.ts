/** Loads the styles of the second factor. */

import href from "./account.css" with { type: "file" };
import { loadStyles } from "../../ui/style-sheet.ts";

loadStyles(href);
