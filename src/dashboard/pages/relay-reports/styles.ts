/** Loads the styles of the page of relay reports. */

import href from "./relay-reports.css" with { type: "file" };
import { loadStyles } from "../../ui/style-sheet.ts";

loadStyles(href);
