/** Loads the styles of the audit log. */

import href from "./audit.css" with { type: "file" };
import { loadStyles } from "../../ui/style-sheet.ts";

loadStyles(href);
